import PostgresClient
import PushCore

/// A service whose deliveries need an approval.
package struct ApprovalRule: Sendable, Hashable {
    package let service: String
    /// Deliveries of more messages need one.
    package let above: Int64
}

/// A way in which a person signs in.
package struct PersonLogin: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A login of the database.
        case login
        /// A key of the API.
        case key
        /// A user of the console.
        case console
    }

    package let kind: Kind
    package let name: String
    package let person: String
}

extension Store {
    /// The services whose deliveries need an approval, by name.
    package func approvalRules() async throws -> [ApprovalRule] {
        let result = try await query("SELECT r.service, r.above FROM pushmta.approval_rule r ORDER BY r.service")
        return try all(result) { row in ApprovalRule(service: try row.text(), above: try row.int64()) }
    }

    /// Makes deliveries of a service with more messages than this need an approval; nil: none does.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `invalid` for a negative number.
    package func setApprovalRule(service: String, above: Int64?) async throws {
        try await change(
            "pushmta.set_approval_rule($1, $2::bigint)",
            [.text(service), above.map(PostgresValue.int64) ?? .null]
        )
    }

    /// Sets or removes the approval rule of a service, for a signed-in administrator; it is logged in the same transaction.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `invalid` for a negative number.
    package func setApprovalRule(service: String, above: Int64?, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_set_approval_rule(\(ConsoleActor.caller), $5, $6::bigint)",
            actor.values + [.text(service), above.map(PostgresValue.int64) ?? .null]
        )
    }

    /// Which person has which login, API key or account of the console, by person.
    package func personLogins() async throws -> [PersonLogin] {
        let result = try await query(
            "SELECT p.kind, p.name, p.person FROM pushmta.person_login p ORDER BY p.person, p.kind, p.name"
        )
        return try all(result) { row in
            PersonLogin(kind: try row.choice(), name: try row.text(), person: try row.text())
        }
    }

    /// Says which person has a login, an API key or an account of the console; nil: not known.
    ///
    /// Throws ``StoreError`` of code `invalid` for a name that is not valid.
    package func setPerson(ofLogin kind: PersonLogin.Kind, _ name: String, to person: String?) async throws {
        try await change(
            "pushmta.set_person($1, $2, $3::text)",
            [.text(kind.rawValue), .text(name), .textOrNull(person)]
        )
    }
}
