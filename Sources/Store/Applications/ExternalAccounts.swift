import PostgresClient
import PushCore

/// An external account: the routing of deliveries to a gateway.
public struct AccountRow: Sendable, Hashable {
    public let id: Int32
    /// Its name in commands, unique.
    public let name: String
    /// What speaks to the gateway.
    public let connector: Connector
    /// Gateway host, or where a stand-in is.
    public let host: String
    public let port: Int32
    /// Connector options, a flat JSON object (connections, CA file, token URI…).
    public let options: String
    /// Whether parts may be claimed over it.
    public let active: Bool

    public init(id: Int32, name: String, connector: Connector, host: String, port: Int32, options: String, active: Bool)
    {
        self.id = id
        self.name = name
        self.connector = connector
        self.host = host
        self.port = port
        self.options = options
        self.active = active
    }
}

extension Store {
    @discardableResult
    public func createAccount(
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
                "There is an external account \"\(name)\" already.",
                hint: "pushmta account set changes it"
            )
        }
        return try result.one(AccountRow.init)
    }

    /// Changes an external account; nil leaves a value as it is. Children take it over when they are started.
    ///
    /// With another connector the account keeps those options that this one has too. Throws `invalid` for a connector of another
    /// platform: what goes over the account now could not go over it then; and for a gateway of the other environment than that of
    /// an application that has it.
    @discardableResult
    public func setAccount(
        name: String,
        connector: Connector? = nil,
        host: String? = nil,
        port: Int32? = nil,
        options: String? = nil,
        active: Bool? = nil
    ) async throws -> AccountRow {
        let before = try await account(named: name)
        if let connector { try Self.check(connector, of: before) }
        // What only the earlier connector had goes with it.
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

    /// By what a form knows whether an external account was changed since it was made, and its rate in messages a second; nil without
    /// one.
    public func accountVersion(_ id: Int32) async throws -> (version: Int64, messagesPerSecond: Double?) {
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

    /// Changes an external account as ``setAccount(name:connector:host:port:options:active:)`` does, and its rate, for somebody who has
    /// signed in to the console.
    ///
    /// Throws `conflict` with `sqlState` `PM132` if somebody has changed it since, and what the session may not as all of the console's do.
    ///
    /// - Parameter version: what ``accountVersion(_:)`` said when the form was made.
    public func changeAccount(_ account: AccountRow, version: Int64, messagesPerSecond: Double?, by actor: ConsoleActor)
        async throws
    {
        try Self.check(account.options, account.name, account.connector)
        let host = try Self.checked(account.host, account.name)
        let before = try await self.account(account.id)
        try Self.check(account.connector, of: before)
        // What was wrong before is not made worse by another port.
        if host != before.host { try await refuse(account.moved(to: host)) }
        try await query(
            """
            SELECT pushmta_engine.console_change_account($1, \(Self.momentAndIdle), $4, $5, $6, $7, $8, $9, $10, $11, $12::double precision)
            """,
            actor.values + [
                .text(actor.address), .int32(account.id), .int64(version), .text(account.connector.rawValue),
                .text(host), .int32(account.port),
                .json(account.options), .bool(account.active), messagesPerSecond.map(PostgresValue.double) ?? .null,
            ]
        )
    }

    /// Refuses an account that is not for all of the applications which have it.
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
            hint: "pushmta account add makes another one"
        )
    }

    static func check(_ options: String, _ name: String, _ connector: Connector) throws {
        guard let problem = AccountOption.problem(json: options, connector: connector) else { return }
        throw StoreError(.invalid, "The options of external account \"\(name)\": \(problem).")
    }

    /// The one form of a host: what is compared with the gateways' own must not have several.
    static func checked(_ host: String, _ name: String) throws -> String {
        do {
            return try GatewayHost(host).text
        } catch {
            throw StoreError(.invalid, "The host of external account \"\(name)\" is none: \(error).")
        }
    }

    /// All external accounts by name.
    public func accounts() async throws -> [AccountRow] {
        try all(
            try await query("SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e ORDER BY e.name"),
            AccountRow.init
        )
    }

    /// An external account by its id.
    public func account(_ id: Int32) async throws -> AccountRow {
        let result = try await query(
            "SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e WHERE e.id = $1",
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no external account \(id).", AccountRow.init)
    }

    /// An external account by its name.
    public func account(named name: String) async throws -> AccountRow {
        let result = try await query(
            "SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e WHERE e.name = $1",
            [.text(name)]
        )
        return try first(result, orThrow: Self.noAccount(name), hint: Self.accountHint, AccountRow.init)
    }

    static func noAccount(_ name: String) -> String { "There is no external account \"\(name)\"." }
    static let accountHint = "pushmta account list shows them; pushmta account add makes one"
}

extension AccountRow {
    func moved(to host: String) -> AccountRow {
        AccountRow(id: id, name: name, connector: connector, host: host, port: port, options: options, active: active)
    }

    static let columns = "e.id, e.name, e.connector, e.host, e.port, e.options::text, e.active"

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.int32(),
            name: try row.text(),
            connector: try row.choice(),
            host: try row.text(),
            port: try row.int32(),
            options: try row.text(),
            active: try row.bool()
        )
    }
}
