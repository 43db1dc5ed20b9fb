import Content
import PostgresClient
import PushCore

/// What a registration needs to know of an application.
public struct RegistrableApplication: Sendable {
    public let id: Int32
    public let name: String
    public let platform: Platform
    /// What devices name it by.
    public let integrationKey: String
    /// Where the parameters of a registration go; what another version of the program wrote may not be readable here, and then its
    /// devices cannot be registered: nobody could say what belongs into which column.
    public let declarations: Result<ApplicationDeclarations, DeclarationError>

    public init(
        id: Int32,
        name: String,
        platform: Platform,
        integrationKey: String,
        declarations: Result<ApplicationDeclarations, DeclarationError>
    ) {
        self.id = id
        self.name = name
        self.platform = platform
        self.integrationKey = integrationKey
        self.declarations = declarations
    }
}

extension Store {
    /// The role that the web process takes on; migrations make it.
    public static let webRole = "pushmta_web"

    /// The role that the session has taken on.
    public func sessionRole() async throws -> String {
        try await query("SELECT current_user::text").one { try $0.text() }
    }

    /// All applications, as registrations need them.
    public func registrableApplications() async throws -> [RegistrableApplication] {
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

    /// The places of those registrations, from 0, of whose subscriptions another transaction holds one now. It waits for nobody.
    public func busyRegistrations(_ registrations: [PlacedRegistration]) async throws -> Set<Int> {
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
    /// It may be repeated after a lost connection: the same registration again changes nothing but its time. Fails with a
    /// retryable error, or a unique violation, when somebody else changes the same subscriptions at the same moment.
    /// Claims that depend on each other must not come together, see ``PlacedRegistration/groups(_:)``.
    public func register(_ registrations: [PlacedRegistration]) async throws -> RegistrationReport {
        let result = try await query(
            """
            SELECT r.created, r.updated, r.disabled
            FROM pushmta_engine.register_claims($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) r
            """,
            [
                .int32Array(registrations.map(\.applicationID)), .textArray(registrations.map(\.pushToken)),
                .textArray(registrations.map(\.userKey)), .textArray(registrations.map(\.deviceID)),
                .textArray(registrations.map(\.locale)), .textArray(registrations.map(\.timeZone)),
                .textArray(registrations.map(\.device)), .textArray(registrations.map(\.recipient)),
                .textArray(registrations.map(\.parameters)), .textArray(registrations.map(\.extra)),
                .textArray(registrations.map(\.claim.rawValue)),
                .textArray(registrations.map { $0.optOut.map { $0 ? "true" : "false" } }),
            ]
        )
        return try result.one { row in
            RegistrationReport(
                created: Int(try row.int32()),
                updated: Int(try row.int32()),
                disabled: Int(try row.int32())
            )
        }
    }
}

/// What a transaction of registrations did.
public struct RegistrationReport: Sendable, Hashable {
    /// Subscriptions that are new.
    public var created: Int
    /// Subscriptions that existed, enabled or not, and are up to date now.
    public var updated: Int
    /// Subscriptions whose token went to another user, or whose device has another token.
    public var disabled: Int

    public init(created: Int, updated: Int, disabled: Int) {
        self.created = created
        self.updated = updated
        self.disabled = disabled
    }
}
