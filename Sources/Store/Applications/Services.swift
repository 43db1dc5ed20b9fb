import PostgresClient
import PushCore

/// A mobile application service: an app as marketing knows it, with its applications for each platform.
package struct ServiceRow: Sendable, Hashable {
    package let id: Int32
    /// Its name in settings and commands, unique.
    package let name: String
    /// The display name.
    package let label: String
    /// Name of the target mapping that links its user keys to people; nil if it has none.
    package let mapping: String?

    package init(id: Int32, name: String, label: String, mapping: String? = nil) {
        self.id = id
        self.name = name
        self.label = label
        self.mapping = mapping
    }
}

extension Store {
    /// Creates a service; `mapping` is the name of a target mapping.
    @discardableResult
    package func createService(name: String, label: String, mapping: String? = nil) async throws -> ServiceRow {
        try NameCheck.name(name, of: "service")
        try NameCheck.label(label, of: "service")
        if let mapping { _ = try await self.mapping(named: mapping) }
        let result = try await query(
            """
            INSERT INTO pushmta_engine.service (name, label, target_mapping_id)
            VALUES ($1, $2, (SELECT m.id FROM pushmta_engine.target_mapping m WHERE m.name = $3))
            ON CONFLICT (name) DO NOTHING RETURNING id
            """,
            [.text(name), .text(label), .textOrNull(mapping)]
        )
        guard result.rowCount > 0 else {
            throw StoreError(.conflict, "Service \"\(name)\" already exists.", hint: "choose another name")
        }
        return try await service(named: name)
    }

    /// Changes a service; nil leaves a value as it is, and an empty mapping name removes the mapping.
    @discardableResult
    package func setService(name: String, label: String? = nil, mapping: String? = nil) async throws -> ServiceRow {
        try NameCheck.label(label, of: "service")
        if let mapping, !mapping.isEmpty { _ = try await self.mapping(named: mapping) }
        try await query(
            """
            UPDATE pushmta_engine.service v SET label = coalesce($2::text, label), changed_at = now(),
                target_mapping_id = CASE WHEN $3::text IS NULL THEN v.target_mapping_id
                    ELSE (SELECT m.id FROM pushmta_engine.target_mapping m WHERE m.name = $3) END
            WHERE v.name = $1
            """,
            [.text(name), .textOrNull(label), .textOrNull(mapping)]
        )
        return try await service(named: name)
    }

    /// All services, sorted by name.
    package func services() async throws -> [ServiceRow] {
        try all(try await query("\(Self.serviceSQL) ORDER BY v.name"), Self.service)
    }

    /// A service by its name.
    package func service(named name: String) async throws -> ServiceRow {
        try first(
            try await query("\(Self.serviceSQL) WHERE v.name = $1", [.text(name)]),
            orThrow: "There is no service \"\(name)\".",
            hint: "pushmta service list shows them; pushmta service add adds one",
            Self.service
        )
    }

    /// The applications of a service, all or those of an environment, by name.
    package func applications(
        ofService name: String,
        environment: ApplicationEnvironment? = nil
    ) async throws -> [ApplicationRow] {
        let service = try await service(named: name)
        return try await applications().filter {
            $0.serviceID == service.id && (environment == nil || $0.environment == environment)
        }
    }

    private static let serviceSQL = """
        SELECT v.id, v.name, v.label, m.name FROM pushmta_engine.service v
        LEFT JOIN pushmta_engine.target_mapping m ON m.id = v.target_mapping_id
        """

    private static func service(_ row: inout RowReader) throws -> ServiceRow {
        ServiceRow(
            id: try row.int32(),
            name: try row.text(),
            label: try row.text(),
            mapping: try row.textOrNil()
        )
    }
}
