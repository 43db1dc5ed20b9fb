import PostgresClient
import PushCore

extension Store {
    /// Changes an application. Children take it over when they start; deliveries that are not prepared yet see new declarations.
    ///
    /// Throws `conflict` if the format of message ids is changed while a delivery is under way: what has its numbers from the
    /// one format cannot be written in the other.
    @discardableResult
    public func setApplication(name: String, _ change: ApplicationChange) async throws -> ApplicationRow {
        let before = try await application(named: name)
        let account = try await account(change.account, platform: before.platform)
        let result = try await query(
            """
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
            """,
            [
                .text(name), .textOrNull(change.label), .textOrNull(change.integrationKey),
                .textOrNull(change.bundleID), .textOrNull(change.messageIDFormat?.rawValue),
                account.map(PostgresValue.int32) ?? .null, .textOrNull(change.declarations?.variablesJSON),
                .textOrNull(change.declarations?.soundsJSON), .textOrNull(change.declarations?.parametersJSON),
                change.icon.map { .bytes($0.png) } ?? .null, .bool(change.removesIcon),
            ]
        )
        guard result.rowCount > 0 else {
            throw StoreError(
                .conflict,
                "A delivery to application \"\(name)\" is under way, whose message ids are in the present format.",
                hint: "change the format when pushmta delivery list shows no unfinished delivery of the application"
            )
        }
        return try ApplicationRow(result, 0)
    }

    /// What an application declares.
    ///
    /// Throws `invalid` if it is stored in a form that this program does not know.
    public func declarations(application name: String) async throws -> ApplicationDeclarations {
        let result = try await query(
            """
            SELECT a.variables::text, a.sounds::text, a.subscription_parameters::text
            FROM pushmta_engine.application a WHERE a.name = $1
            """,
            [.text(name)]
        )
        let (variables, sounds, parameters) = try first(
            result,
            orThrow: "There is no application \"\(name)\".",
            hint: "pushmta app list shows them"
        ) { rows, row in (try rows.text(row, 0), try rows.text(row, 1), try rows.text(row, 2)) }
        do {
            return try ApplicationDeclarations(variables: variables, sounds: sounds, parameters: parameters)
        } catch {
            throw StoreError(.invalid, "Application \"\(name)\", \(error)")
        }
    }

    /// An application's icon, a PNG file; nil if it has none.
    public func icon(application name: String) async throws -> [UInt8]? {
        let result = try await query("SELECT a.icon FROM pushmta_engine.application a WHERE a.name = $1", [.text(name)])
        return try first(
            result,
            orThrow: "There is no application \"\(name)\".",
            hint: "pushmta app list shows them"
        ) { rows, row in rows.isNull(row, 0) ? nil : try rows.bytes(row, 0) }
    }

    /// The id of an external account that serves a platform; nil for no name.
    func account(_ name: String?, platform: Platform) async throws -> Int32? {
        guard let name else { return nil }
        let found = try await account(named: name)
        guard found.connector.platform == platform else {
            throw StoreError(
                .invalid,
                "External account \"\(name)\" is an \(found.connector.rawValue) connector and cannot serve \(platform.rawValue).",
                hint: "name an account of the same platform"
            )
        }
        return found.id
    }
}
