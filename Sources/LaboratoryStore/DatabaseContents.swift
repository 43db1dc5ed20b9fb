import PostgresClient
import Store

/// What a test site puts into its database, so that what people have added can be told from it.
public struct TestContents: Sendable, Hashable {
    /// The name of its service; its applications and accounts have names that begin with it and a hyphen.
    public let service: String
    /// The label of its one delivery.
    public let deliveryLabel: String
    /// What user keys of its devices begin with; a number follows.
    public let userKeyPrefix: String
    /// The name of the console's first user.
    public let consoleUser: String

    public init(service: String, deliveryLabel: String, userKeyPrefix: String, consoleUser: String) {
        self.service = service
        self.deliveryLabel = deliveryLabel
        self.userKeyPrefix = userKeyPrefix
        self.consoleUser = consoleUser
    }
}

extension Store {
    /// What a database holds besides that of a test site, as "3 applications"; nothing for one that is empty or not there.
    ///
    /// Works with the schema of every version, as it is asked before a database is made anew.
    public static func contents(besides testSite: TestContents, _ configuration: PostgresConfiguration) async throws
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

    /// Things that people make, and how many of them are not the test site's.
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
        // Two come with the schema, and say so since its version 18.
        (
            "templates", "delivery_template",
            "count(*) FILTER (WHERE to_jsonb(delivery_template) ->> 'ready_made' IS DISTINCT FROM 'true')"
        ),
        ("seed addresses", "seed", "count(*)"), ("exclusion lists", "exclusion_list", "count(*)"),
        ("API keys", "api_key", "count(*)"), ("drafts of the console", "console_draft", "count(*)"),
        ("users of the console", "console_user", "count(*) FILTER (WHERE name <> $4)"),
    ]

    /// Tables and views of people's own, which mappings read.
    private static let foreignRelationsSQL = """
        SELECT 'tables and views of your own' AS words, count(*) AS n FROM pg_class r JOIN pg_namespace s ON s.oid = r.relnamespace
        WHERE r.relkind IN ('r', 'p', 'v', 'm', 'f') AND s.nspname NOT LIKE 'pg\\_%'
            AND s.nspname NOT IN ('information_schema', 'pushmta', 'pushmta_engine')
        """
}
