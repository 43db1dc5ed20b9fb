import Content
import PostgresClient
import PushCore

extension Store {
    /// The role that the web process assumes; migrations create it.
    package static let webRole = "pushmta_web"

    /// The role that the session has assumed.
    package func sessionRole() async throws -> String {
        try await query("SELECT current_user::text").one { try $0.text() }
    }

    /// All applications, as registrations need them.
    package func registrableApplications() async throws -> [RegistrableApplication] {
        let result = try await query(
            "SELECT a.id, a.name, a.platform, a.integration_key, a.parameters FROM pushmta_engine.registrable_applications() a"
        )
        return try all(result) { row in
            RegistrableApplication(
                id: try row.int32(),
                name: try row.text(),
                platform: try row.choice(),
                integrationKey: try row.text(),
                declarations: Self.declarations(try row.text())
            )
        }
    }

    private static func declarations(_ parameters: String) -> Result<ApplicationDeclarations, DeclarationError> {
        do throws(DeclarationError) {
            return .success(try ApplicationDeclarations(variables: "[]", sounds: "[]", parameters: parameters))
        } catch {
            return .failure(error)
        }
    }

    /// The indexes, from 0, of registrations whose subscriptions another transaction has locked. It never waits.
    package func busyRegistrations(_ registrations: [PlacedRegistration]) async throws -> Set<Int> {
        let result = try await query(
            "SELECT pushmta_engine.busy_registrations($1, $2, $3)",
            [
                .int32Array(registrations.map(\.applicationID)), .textArray(registrations.map(\.pushToken)),
                .textArray(registrations.map(\.deviceID)),
            ]
        )
        return try result.one { row in Set(try row.int32Array().map { Int($0) - 1 }) }
    }

    /// Stores registrations, in their order, in one transaction.
    ///
    /// It can be repeated after a lost connection: the same registration again changes only its time. Fails with a
    /// retryable error, or a unique violation, if another session changes the same subscriptions at the same moment.
    /// Claims that depend on each other must not be in one call, see ``PlacedRegistration/groups(_:)``.
    package func register(_ registrations: [PlacedRegistration]) async throws -> RegistrationReport {
        let result = try await query(
            """
            SELECT r.created, r.updated, r.disabled, r.unknown_zones, r.unknown_categories
            FROM pushmta_engine.register_claims($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text[], $14::text[]) r
            """,
            [
                .int32Array(registrations.map(\.applicationID)), .textArray(registrations.map(\.pushToken)),
                .textArray(registrations.map(\.userKey)), .textArray(registrations.map(\.deviceID)),
                .textArray(registrations.map(\.locale)), .textArray(registrations.map(\.timeZone)),
                .textArray(registrations.map(\.device)), .textArray(registrations.map(\.recipient)),
                .textArray(registrations.map(\.parameters)), .textArray(registrations.map(\.extra)),
                .textArray(registrations.map(\.claim.rawValue)),
                .textArray(registrations.map { $0.optOut.map { $0 ? "true" : "false" } }),
                Self.categories(registrations.map(\.categories.outText)),
                Self.categories(registrations.map(\.categories.inText)),
            ]
        )
        return try result.one { row in
            RegistrationReport(
                created: Int(try row.int32()),
                updated: Int(try row.int32()),
                disabled: Int(try row.int32()),
                unknownZones: Int(try row.int32()),
                unknownCategories: Int(try row.int32())
            )
        }
    }

    /// Null if no registration names a category, so that the database has nothing to do.
    private static func categories(_ texts: [String?]) -> PostgresValue {
        texts.contains { $0 != nil } ? .textArray(texts) : .null
    }
}

/// The result of a transaction of registrations.
package struct RegistrationReport: Sendable, Hashable {
    /// New subscriptions.
    package var created: Int
    /// Existing subscriptions, enabled or not, that are now up to date.
    package var updated: Int
    /// Subscriptions whose token went to another user, or whose device has a new token.
    package var disabled: Int
    /// Time zones that PostgreSQL does not know, and that were not stored.
    package var unknownZones: Int
    /// Names of categories that changed nothing: their service has none of that name, or nobody can opt out of it.
    package var unknownCategories: Int

    package init(created: Int, updated: Int, disabled: Int, unknownZones: Int = 0, unknownCategories: Int = 0) {
        self.created = created
        self.updated = updated
        self.disabled = disabled
        self.unknownZones = unknownZones
        self.unknownCategories = unknownCategories
    }
}
