import Content
import PostgresClient
import PushCore

/// What to change of an application; nil leaves a value as it is.
public struct ApplicationChange: Sendable {
    /// Its name for people.
    public var label: String?
    /// What the SDK registers with, unique.
    public var integrationKey: String?
    /// Bundle id (the APNs topic) or package name.
    public var bundleID: String?
    /// How `_mId` is written.
    public var messageIDFormat: MessageIDFormat?
    /// Name of the external account.
    public var account: String?
    /// All that it declares.
    public var declarations: ApplicationDeclarations?
    /// Its icon.
    public var icon: ApplicationIcon?
    /// Whether its icon is taken away.
    public var removesIcon = false

    /// Whether nothing is changed.
    public var isEmpty: Bool {
        label == nil && integrationKey == nil && bundleID == nil && messageIDFormat == nil && account == nil
            && declarations == nil && icon == nil && !removesIcon
    }

    /// No change.
    public init() {}
}

extension Store {
    /// Changes an application. Children take it over when they start; deliveries that are not prepared yet see new declarations.
    ///
    /// Throws `conflict` if the format of message ids is changed while a delivery is under way: what has its numbers from the
    /// one format cannot be written in the other. Throws `invalid` if its gateway would then refuse each of its messages.
    ///
    /// - Parameter declaring: makes the new declarations from those that there are; nobody else changes them meanwhile.
    @discardableResult
    public func setApplication(
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
                try ApplicationRow($0, $1)
            }
            if let declaring { change.declarations = try declaring(before, try Self.declarations(found, of: name)) }
            return try await Self.change(before, change, transaction)
        }
    }

    /// The same as a part of a transaction that does more.
    static func change(_ before: ApplicationRow, _ change: ApplicationChange, _ transaction: PostgresTransaction)
        async throws -> ApplicationRow
    {
        try NameCheck.label(change.label, of: "application")
        try NameCheck.integrationKey(change.integrationKey)
        if let text = change.bundleID, let problem = BundleID.problem(text, before.platform) {
            throw StoreError(.invalid, "Application \"\(before.name)\": \(problem).")
        }
        let account = try await account(change.account, platform: before.platform, transaction)
        let result = try await transaction.execute(
            PostgresStatement(
                changeSQL,
                [
                    .text(before.name), .textOrNull(change.label), .textOrNull(change.integrationKey),
                    .textOrNull(change.bundleID), .textOrNull(change.messageIDFormat?.rawValue),
                    account.map { .int32($0.id) } ?? .null, .textOrNull(change.declarations?.variablesJSON),
                    .textOrNull(change.declarations?.soundsJSON), .textOrNull(change.declarations?.parametersJSON),
                    change.icon.map { .bytes($0.png) } ?? .null, .bool(change.removesIcon),
                ]
            )
        )
        guard result.rowCount > 0 else {
            throw StoreError(
                .conflict,
                "A delivery to application \"\(before.name)\" is under way, whose message ids are in the present format.",
                hint: "change the format when pushmta delivery list shows no unfinished delivery of the application"
            )
        }
        let after = try ApplicationRow(result, 0)
        if let account { try refuse(RouteCheck.problem(after, account), of: after) }
        guard change.bundleID != nil, let id = after.credentialID else { return after }
        let credential = try await transaction.execute(
            PostgresStatement(
                "SELECT \(CredentialNotice.columns) FROM pushmta_engine.credential c WHERE c.id = $1",
                [.int64(id)]
            )
        )
        if credential.rowCount > 0 { try refuse(RouteCheck.problem(after, CredentialNotice(credential, 0)), of: after) }
        return after
    }

    static func refuse(_ problem: String?, of application: ApplicationRow) throws {
        guard let problem else { return }
        throw StoreError(.invalid, "Application \"\(application.name)\": \(problem).")
    }

    private static let changeSQL = """
        UPDATE pushmta_engine.application a SET label = coalesce($2::text, label),
            integration_key = coalesce($3::text, integration_key), bundle_id = coalesce($4::text, bundle_id),
            message_id_format = coalesce($5::text, message_id_format),
            external_account_id = coalesce($6::integer, external_account_id),
            variables = coalesce($7::text::jsonb, variables), sounds = coalesce($8::text::jsonb, sounds),
            subscription_parameters = coalesce($9::text::jsonb, subscription_parameters),
            icon = CASE WHEN $11 THEN NULL ELSE coalesce($10::bytea, icon) END, changed_at = now()
        WHERE a.name = $1 AND ($5::text IS NULL OR $5 = a.message_id_format OR NOT EXISTS (
            SELECT FROM pushmta_engine.delivery_application x JOIN pushmta_engine.delivery d ON d.id = x.delivery_id
            WHERE x.application_id = a.id AND (d.state IN ('pending', 'preparing', 'in_progress', 'paused')
                OR d.state IN ('stopped', 'failed') AND d.finished_at IS NULL)))
        RETURNING \(ApplicationRow.columns)
        """

    /// What an application declares.
    ///
    /// Throws `invalid` if it is stored in a form that this program does not know.
    public func declarations(application name: String) async throws -> ApplicationDeclarations {
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
        let row = try ApplicationRow(rows, 0)
        let parameters = try rows.text(0, ApplicationRow.columnCount)
        do {
            return try ApplicationDeclarations(variables: row.variables, sounds: row.sounds, parameters: parameters)
        } catch {
            throw StoreError(.invalid, "Application \"\(name)\", \(error)")
        }
    }

    /// An application's icon, a PNG file; nil if it has none.
    public func icon(application name: String) async throws -> [UInt8]? {
        let result = try await query("SELECT a.icon FROM pushmta_engine.application a WHERE a.name = $1", [.text(name)])
        return try first(result, orThrow: Self.noApplication(name), hint: Self.applicationHint) { rows, row in
            rows.isNull(row, 0) ? nil : try rows.bytes(row, 0)
        }
    }

    /// An external account that serves a platform; nil for no name.
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
        let found = try AccountRow(result, 0)
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
