import Content
import PostgresClient
import PushCore

extension Store {
    /// Changes an application. Children apply it when they start; deliveries that are not prepared yet see new
    /// declarations.
    ///
    /// Throws `conflict` if the format of message ids is changed while a delivery is under way, because numbers
    /// reserved for one format cannot be used in the other. Throws `invalid` if the gateway would then refuse each of
    /// the application's messages.
    ///
    /// - Parameter declaring: makes the new declarations from the present ones, which no other session changes
    ///   meanwhile.
    @discardableResult
    package func setApplication(
        name: String,
        _ change: ApplicationChange,
        declaring: (@Sendable (ApplicationRow, ApplicationDeclarations) throws -> ApplicationDeclarations)? = nil
    ) async throws -> ApplicationRow {
        try await transaction { transaction in
            var change = change
            let found = try await transaction.execute(
                PostgresStatement("\(Self.declarationsSQL) FOR NO KEY UPDATE OF a", [.text(name)])
            )
            let before = try self.first(found, orThrow: Self.noApplication(name), hint: Self.applicationHint) {
                (application: try ApplicationRow(&$0), parameters: try $0.text())
            }.application
            if let declaring { change.declarations = try declaring(before, try Self.declarations(found, of: name)) }
            return try await Self.change(before, change, transaction)
        }
    }

    /// Changes an application as ``setApplication(name:_:declaring:)`` does, and its rate, for a signed-in console
    /// user.
    ///
    /// Throws `conflict` with `sqlState` `PM132` if it was changed since, and the errors of a session as all functions
    /// of the console do.
    ///
    /// - Parameters:
    ///   - version: the result of ``applicationVersion(_:)`` when the form was loaded.
    ///   - messagesPerSecond: its rate, a value of ``DeliverySetting/rate``; nil for no rate of its own.
    package func changeApplication(
        _ id: Int32,
        _ change: ApplicationChange,
        version: Int64,
        messagesPerSecond: Double?,
        by actor: ConsoleActor
    ) async throws {
        try await transaction { transaction in
            let found = try await transaction.execute(
                PostgresStatement(
                    "SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a WHERE a.id = $1",
                    [.int32(id)]
                )
            )
            let before = try self.first(found, orThrow: "There is no application \(id).", ApplicationRow.init)
            _ = try await Self.change(before, change, transaction) { values in
                PostgresStatement(
                    """
                    SELECT pushmta_engine.console_change_application(\(ConsoleActor.caller), $5, $6, $7::double precision,
                        $8::text, $9::text, $10::text, $11::text, $12::integer, $13::text::jsonb, $14::text::jsonb, $15::text::jsonb,
                        $16::bytea, $17)
                    """,
                    actor.values + [
                        .int32(id), .int64(version),
                        messagesPerSecond.map(PostgresValue.double) ?? .null,
                    ] + values
                )
            }
        }
    }

    /// Does the same as a part of a larger transaction.
    ///
    /// - Parameter statement: makes the statement that writes the new values, where null means unchanged. The default
    ///   is the statement of a program with its own rights.
    static func change(
        _ before: ApplicationRow,
        _ change: ApplicationChange,
        _ transaction: PostgresTransaction,
        statement: ([PostgresValue]) -> PostgresStatement? = { _ in nil }
    ) async throws -> ApplicationRow {
        try NameCheck.label(change.label, of: "application")
        try NameCheck.integrationKey(change.integrationKey)
        if let text = change.bundleID, let problem = BundleID.problem(text, before.platform) {
            throw StoreError(.invalid, "Application \"\(before.name)\": \(problem).")
        }
        let account = try await account(change.account, platform: before.platform, transaction)
        let values: [PostgresValue] = [
            .textOrNull(change.label), .textOrNull(change.integrationKey), .textOrNull(change.bundleID),
            .textOrNull(change.messageIDFormat?.rawValue), account.map { .int32($0.id) } ?? .null,
            .textOrNull(change.declarations?.variablesJSON), .textOrNull(change.declarations?.soundsJSON),
            .textOrNull(change.declarations?.parametersJSON), change.icon.map { .bytes($0.png) } ?? .null,
            .bool(change.removesIcon),
        ]
        let own = PostgresStatement(changeSQL, [.int32(before.id)] + values)
        _ = try await transaction.execute(statement(values) ?? own)
        let after = try await transaction.execute(
            PostgresStatement(
                "SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a WHERE a.id = $1",
                [.int32(before.id)]
            )
        ).one(ApplicationRow.init)
        if let account { try refuse(RouteCheck.problem(after, account), of: after) }
        guard change.bundleID != nil, let id = after.credentialID else { return after }
        // The view has all but the name, and the console's role may read it, too.
        let credential = try await transaction.execute(
            PostgresStatement(
                "SELECT \(CredentialNotice.columns) FROM (SELECT v.*, '' AS name FROM pushmta.credential v WHERE v.id = $1) c",
                [.int64(id)]
            )
        )
        if let notice = try credential.oneOrNil(CredentialNotice.init) {
            try refuse(RouteCheck.problem(after, notice), of: after)
        }
        return after
    }

    static func refuse(_ problem: String?, of application: ApplicationRow) throws {
        guard let problem else { return }
        throw StoreError(.invalid, "Application \"\(application.name)\": \(problem).")
    }

    private static let changeSQL = """
        SELECT pushmta_engine.change_application($1, $2::text, $3::text, $4::text, $5::text, $6::integer, $7::text::jsonb,
            $8::text::jsonb, $9::text::jsonb, $10::bytea, $11)
        """

    /// The version by which a form detects a change of an application, and its rate in messages a second; nil without
    /// one.
    package func applicationVersion(_ id: Int32) async throws -> (version: Int64, messagesPerSecond: Double?) {
        let result = try await query(
            """
            SELECT pushmta_engine.version_of(a.changed_at, l.messages_per_second), l.messages_per_second
            FROM pushmta_engine.application a LEFT JOIN pushmta.rate_limit l ON l.scope = 'application' AND l.name = a.name WHERE a.id = $1
            """,
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no application \(id).") { row in
            (try row.int64(), try row.doubleOrNil())
        }
    }

    /// The declarations of an application.
    ///
    /// Throws `invalid` if it is stored in a form that this program does not know.
    package func declarations(application name: String) async throws -> ApplicationDeclarations {
        let result = try await query(Self.declarationsSQL, [.text(name)])
        guard result.rowCount > 0 else {
            throw StoreError(.notFound, Self.noApplication(name), hint: Self.applicationHint)
        }
        return try Self.declarations(result, of: name)
    }

    private static let declarationsSQL = """
        SELECT \(ApplicationRow.columns), a.subscription_parameters::text
        FROM pushmta_engine.application a WHERE a.name = $1
        """

    private static func declarations(_ rows: PostgresResult, of name: String) throws -> ApplicationDeclarations {
        let (row, parameters) = try rows.one { (try ApplicationRow(&$0), try $0.text()) }
        do {
            return try ApplicationDeclarations(variables: row.variables, sounds: row.sounds, parameters: parameters)
        } catch {
            throw StoreError(.invalid, "Application \"\(name)\", \(error)")
        }
    }

    /// The applications that have an icon, each with a number that changes with the icon.
    package func iconVersions() async throws -> [(application: String, id: Int32, version: Int64)] {
        let result = try await query(
            """
            SELECT a.name, a.id, extract(epoch FROM a.changed_at)::bigint FROM pushmta_engine.application a WHERE a.icon IS NOT NULL
            """
        )
        return try all(result) { row in
            (try row.text(), try row.int32(), try row.int64())
        }
    }

    /// An application's icon, a PNG file; nil if it has none.
    package func icon(application name: String) async throws -> [UInt8]? {
        let result = try await query("SELECT a.icon FROM pushmta_engine.application a WHERE a.name = $1", [.text(name)])
        return try first(result, orThrow: Self.noApplication(name), hint: Self.applicationHint) { row in
            try row.bytesOrNil()
        }
    }

    /// An external account that serves a platform; nil without a name.
    static func account(_ name: String?, platform: Platform, _ transaction: PostgresTransaction) async throws
        -> AccountRow?
    {
        guard let name else { return nil }
        let result = try await transaction.execute(
            PostgresStatement(
                "SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e WHERE e.name = $1",
                [.text(name)]
            )
        )
        guard result.rowCount > 0 else {
            throw StoreError(.notFound, noAccount(name), hint: accountHint)
        }
        let found = try result.one(AccountRow.init)
        guard found.connector.platform == platform else {
            throw StoreError(
                .invalid,
                "External account \"\(name)\" is an \(found.connector.rawValue) connector and cannot serve \(platform.rawValue).",
                hint: "name an account of the same platform"
            )
        }
        return found
    }
}
