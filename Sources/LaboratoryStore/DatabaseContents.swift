import PostgresClient
import Store

/// What a test site puts into its database. Everything else was added by users.
package struct TestContents: Sendable, Hashable {
    /// The name of its service. The names of its applications and accounts begin with it and a hyphen.
    package let service: String
    /// The label of its only delivery.
    package let deliveryLabel: String
    /// The prefix of its devices' user keys, which is followed by a number.
    package let userKeyPrefix: String
    /// The name of the console's first user.
    package let consoleUser: String

    package init(service: String, deliveryLabel: String, userKeyPrefix: String, consoleUser: String) {
        self.service = service
        self.deliveryLabel = deliveryLabel
        self.userKeyPrefix = userKeyPrefix
        self.consoleUser = consoleUser
    }
}

extension Store {
    /// What a database holds besides the test site's contents, such as "3 applications". It is empty if the database is
    /// empty or does not exist.
    ///
    /// It works with every schema version, as it runs before a database is recreated.
    package static func contents(besides testSite: TestContents, _ configuration: PostgresConfiguration) async throws
        -> [String]
    {
        let connection: PostgresConnection
        do {
            connection = try await PostgresConnection.connect(configuration)
        } catch let error as PostgresError where error.sqlState == "3D000" {
            return []
        }
        do {
            let found = try await contents(besides: testSite, connection)
            await connection.close()
            return found
        } catch {
            await connection.close()
            throw error
        }
    }

    private static func contents(besides testSite: TestContents, _ connection: PostgresConnection) async throws
        -> [String]
    {
        let there = try await connection.execute(
            PostgresStatement(
                "SELECT to_regclass('pushmta_engine.' || t.name) IS NOT NULL FROM unnest($1::text[]) WITH ORDINALITY t(name, n) ORDER BY t.n",
                [.textArray(kinds.map(\.table))],
                prepare: false
            )
        ).all { try $0.bool() }
        var counts = [foreignRelationsSQL]
        for (kind, isThere) in zip(kinds, there) where isThere {
            counts.append("SELECT '\(kind.words)', \(kind.count) FROM pushmta_engine.\(kind.table)")
        }
        let result = try await connection.execute(
            PostgresStatement(
                "SELECT c.n, c.words FROM (\(counts.joined(separator: " UNION ALL "))) c(words, n) WHERE c.n > 0",
                [
                    .text(testSite.service), .text(testSite.deliveryLabel), .text(testSite.userKeyPrefix),
                    .text(testSite.consoleUser),
                ],
                prepare: false
            )
        )
        return try result.all { row in "\(try row.int64()) \(try row.text())" }
    }

    /// The kinds of objects that users create, and the query for the number that is not the test site's.
    private static let kinds: [(words: String, table: String, count: String)] = [
        ("services", "service", "count(*) FILTER (WHERE name <> $1)"),
        ("applications", "application", "count(*) FILTER (WHERE name NOT LIKE $1 || '-%')"),
        ("external accounts", "external_account", "count(*) FILTER (WHERE name NOT LIKE $1 || '-%')"),
        (
            "deliveries", "delivery",
            "count(*) FILTER (WHERE label <> $2) + greatest(count(*) FILTER (WHERE label = $2) - 1, 0)"
        ),
        ("subscriptions", "subscription", "count(*) FILTER (WHERE user_key !~ ('^' || $3 || '[0-9]+$'))"),
        ("target mappings", "target_mapping", "count(*)"),
        // Two templates come with the schema, which marks them since its version 18.
        (
            "templates", "delivery_template",
            "count(*) FILTER (WHERE to_jsonb(delivery_template) ->> 'ready_made' IS DISTINCT FROM 'true')"
        ),
        ("seed addresses", "seed", "count(*)"), ("exclusion lists", "exclusion_list", "count(*)"),
        ("API keys", "api_key", "count(*)"), ("drafts of the console", "console_draft", "count(*)"),
        ("users of the console", "console_user", "count(*) FILTER (WHERE name <> $4)"),
    ]

    /// Counts users' own tables and views, which mappings read.
    private static let foreignRelationsSQL = """
        SELECT 'tables and views of your own' AS words, count(*) AS n FROM pg_class r JOIN pg_namespace s ON s.oid = r.relnamespace
        WHERE r.relkind IN ('r', 'p', 'v', 'm', 'f') AND s.nspname NOT LIKE 'pg\\_%'
            AND s.nspname NOT IN ('information_schema', 'pushmta', 'pushmta_engine')
        """
}
