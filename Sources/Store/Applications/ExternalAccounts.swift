import PostgresClient
import PushCore

extension Store {
    @discardableResult
    package func createAccount(
        name: String,
        connector: Connector,
        host: String,
        port: Int32,
        options: String = "{}"
    ) async throws -> AccountRow {
        try NameCheck.name(name, of: "external account")
        try Self.check(options, name, connector)
        let host = try Self.checked(host, name)
        let result = try await query(
            """
            INSERT INTO pushmta_engine.external_account AS e (name, label, connector, host, port, options)
            VALUES ($1, $1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING RETURNING \(AccountRow.columns)
            """,
            [.text(name), .text(connector.rawValue), .text(host), .int32(port), .json(options)]
        )
        guard result.rowCount > 0 else {
            throw StoreError(
                .conflict,
                "External account \"\(name)\" already exists.",
                hint: "pushmta account set changes it"
            )
        }
        return try result.one(AccountRow.init)
    }

    /// Changes an external account; nil leaves a value as it is. Children apply it when they are started.
    ///
    /// With another connector the account keeps the options that this connector has, too. Throws `invalid` for a
    /// connector of another platform, because the account's messages could not be sent with it. Also throws it for a
    /// gateway of another environment than that of an application that uses the account.
    @discardableResult
    package func setAccount(
        name: String,
        connector: Connector? = nil,
        host: String? = nil,
        port: Int32? = nil,
        options: String? = nil,
        active: Bool? = nil
    ) async throws -> AccountRow {
        let before = try await account(named: name)
        if let connector { try Self.check(connector, of: before) }
        // Options that only the earlier connector had are dropped.
        let options = options ?? connector.map { AccountOption.fitting(json: before.options, connector: $0) }
        if let options { try Self.check(options, name, connector ?? before.connector) }
        let host = try host.map { try Self.checked($0, name) }
        if let host { try await refuse(before.moved(to: host)) }
        let result = try await query(
            """
            UPDATE pushmta_engine.external_account e SET connector = coalesce($6::text, connector),
                host = coalesce($2::text, host), port = coalesce($3::integer, port),
                options = coalesce($4::jsonb, options), active = coalesce($5::boolean, active), changed_at = now()
            WHERE e.name = $1 RETURNING \(AccountRow.columns)
            """,
            [
                .text(name), .textOrNull(host), port.map(PostgresValue.int32) ?? .null,
                options.map(PostgresValue.json) ?? .null, active.map(PostgresValue.bool) ?? .null,
                .textOrNull(connector?.rawValue),
            ]
        )
        return try first(result, orThrow: Self.noAccount(name), hint: Self.accountHint, AccountRow.init)
    }

    /// The version by which a form detects a change of an external account, and its rate in messages a second; nil
    /// without one.
    package func accountVersion(_ id: Int32) async throws -> (version: Int64, messagesPerSecond: Double?) {
        let result = try await query(
            """
            SELECT pushmta_engine.version_of(e.changed_at, l.messages_per_second), l.messages_per_second
            FROM pushmta_engine.external_account e LEFT JOIN pushmta.rate_limit l ON l.scope = 'account' AND l.name = e.name WHERE e.id = $1
            """,
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no external account \(id).") { row in
            (try row.int64(), try row.doubleOrNil())
        }
    }

    /// Changes an external account as ``setAccount(name:connector:host:port:options:active:)`` does, and its rate, for
    /// a signed-in console user.
    ///
    /// Throws `conflict` with `sqlState` `PM132` if it was changed since, and the errors of a session as all functions
    /// of the console do.
    ///
    /// - Parameter version: the result of ``accountVersion(_:)`` when the form was loaded.
    package func changeAccount(
        _ account: AccountRow,
        version: Int64,
        messagesPerSecond: Double?,
        by actor: ConsoleActor
    )
        async throws
    {
        try Self.check(account.options, account.name, account.connector)
        let host = try Self.checked(account.host, account.name)
        let before = try await self.account(account.id)
        try Self.check(account.connector, of: before)
        // A host that was wrong before does not block the change of another value.
        if host != before.host { try await refuse(account.moved(to: host)) }
        try await query(
            """
            SELECT pushmta_engine.console_change_account(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10, $11, $12::double precision)
            """,
            actor.values + [
                .int32(account.id), .int64(version), .text(account.connector.rawValue),
                .text(host), .int32(account.port),
                .json(account.options), .bool(account.active), messagesPerSecond.map(PostgresValue.double) ?? .null,
            ]
        )
    }

    /// Refuses an account that does not fit all of the applications that use it.
    private func refuse(_ account: AccountRow) async throws {
        for application in try await applications() where application.accountID == account.id {
            try Self.refuse(RouteCheck.problem(application, account), of: application)
        }
    }

    private static func check(_ connector: Connector, of account: AccountRow) throws {
        guard connector.platform != account.connector.platform else { return }
        throw StoreError(
            .invalid,
            "External account \"\(account.name)\" serves \(account.connector.platform.rawValue), and \(connector.rawValue) does not.",
            hint: "add another account with pushmta account add"
        )
    }

    static func check(_ options: String, _ name: String, _ connector: Connector) throws {
        guard let problem = AccountOption.problem(json: options, connector: connector) else { return }
        throw StoreError(.invalid, "The options of external account \"\(name)\": \(problem).")
    }

    /// The only form of a host: it is compared with the gateways' own hosts, so it must be unique.
    static func checked(_ host: String, _ name: String) throws -> String {
        do {
            return try GatewayHost(host).text
        } catch {
            throw StoreError(.invalid, "The host of external account \"\(name)\" is not valid: \(error).")
        }
    }

    /// All external accounts by name.
    package func accounts() async throws -> [AccountRow] {
        try all(
            try await query("SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e ORDER BY e.name"),
            AccountRow.init
        )
    }

    /// An external account by its id.
    package func account(_ id: Int32) async throws -> AccountRow {
        let result = try await query(
            "SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e WHERE e.id = $1",
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no external account \(id).", AccountRow.init)
    }

    /// An external account by its name.
    package func account(named name: String) async throws -> AccountRow {
        let result = try await query(
            "SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e WHERE e.name = $1",
            [.text(name)]
        )
        return try first(result, orThrow: Self.noAccount(name), hint: Self.accountHint, AccountRow.init)
    }

    static func noAccount(_ name: String) -> String { "There is no external account \"\(name)\"." }
    static let accountHint = "pushmta account list shows them; pushmta account add adds one"
}
