import PostgresClient
import PushCore

/// A registered target mapping; its view may be unreadable.
package struct MappingRow: Sendable, Hashable {
    package let id: Int32
    /// Unique.
    package let name: String
    /// The display name.
    package let label: String
    /// The view's name with its schema.
    package let view: String
    /// The column that holds the user keys.
    package let keyColumn: String
}

extension Store {
    /// Registers a view that maps user keys to people.
    ///
    /// Throws `invalid` if the view cannot be read, has no such column, or has several rows for one key, so that the
    /// key does not identify a person.
    @discardableResult
    package func createMapping(name: String, label: String, view: String, keyColumn: String) async throws
        -> TargetMapping
    {
        try NameCheck.name(name, of: "target mapping")
        try NameCheck.label(label, of: "target mapping")
        let resolved = try await resolve(name: name, view: view)
        let mapping = TargetMapping(
            id: 0,
            name: name,
            label: label,
            view: resolved.view,
            keyColumn: try Self.key(keyColumn, of: resolved.columns, view: view),
            columns: resolved.columns
        )
        let key = SQLName.quoted(keyColumn)
        // A large view takes long, so there is no time limit.
        let doubled = try await views.read(
            "SELECT '{}'::text[] FROM \(mapping.view) m WHERE m.\(key) IS NOT NULL GROUP BY m.\(key) HAVING count(*) > 1 LIMIT 1",
            userKeys: [],
            timeout: nil
        )
        guard doubled.isEmpty else {
            throw StoreError(
                .invalid,
                "\(view) has several rows with the same \(keyColumn), so a user key does not identify one person.",
                hint: "register a view with one row per key"
            )
        }
        let made = try await query(
            """
            INSERT INTO pushmta_engine.target_mapping (name, label, view_name, key_column) VALUES ($1, $2, $3, $4)
            ON CONFLICT (name) DO NOTHING RETURNING id
            """,
            [.text(name), .text(label), .text(mapping.view), .text(keyColumn)]
        )
        guard made.rowCount > 0 else {
            throw StoreError(.conflict, "There is a target mapping \"\(name)\" already.", hint: "choose another name")
        }
        return try await self.mapping(named: name)
    }

    /// All mappings by name. The problem says why a mapping's view can no longer be used, or which columns it lacks
    /// that started deliveries use.
    package func mappings() async throws -> [(row: MappingRow, problem: String?)] {
        let rows = try await mappingRows("ORDER BY m.name", [])
        var readable: [Int32: TargetMapping] = [:]
        var problems: [Int32: String] = [:]
        for row in rows {
            do {
                readable[row.id] = try await mapping(row)
            } catch let error as StoreError {
                problems[row.id] = error.message
            }
        }
        for (id, missing) in try await missingColumns(of: readable) {
            let columns = missing.sorted { $0.key < $1.key }.map { "\"\($0.key)\" (delivery \($0.value) uses it)" }
            problems[id] =
                "\(readable[id]?.view ?? "The view") has no column \(columns.joined(separator: ", ")) that may be read."
        }
        return rows.map { ($0, problems[$0.id]) }
    }

    /// The mappings that cannot be used now, by name. A user with only the rights for monitoring cannot check them, so
    /// for such a user the list is empty.
    package func mappingProblems() async throws -> [(name: String, problem: String)] {
        let mayLook = try await query(
            """
            SELECT coalesce(bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')), false)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'pushmta_engine' AND c.relname IN ('target_mapping', 'delivery')
            """
        ).one { try $0.bool() }
        guard mayLook else { return [] }
        return try await mappings().compactMap { row, problem in problem.map { (row.name, $0) } }
    }

    /// A mapping by its name.
    package func mapping(named name: String) async throws -> TargetMapping {
        guard let row = try await mappingRows("WHERE m.name = $1", [.text(name)]).first else {
            throw StoreError(
                .notFound,
                "There is no target mapping \"\(name)\".",
                hint: "pushmta mapping list shows them; pushmta mapping add makes one"
            )
        }
        return try await mapping(row)
    }

    /// The mapping of an application's service; nil if the service has none.
    package func targetMapping(application id: Int32) async throws -> TargetMapping? {
        let rows = try await mappingRows(
            """
            WHERE m.id = (SELECT v.target_mapping_id FROM pushmta_engine.application a
                JOIN pushmta_engine.service v ON v.id = a.service_id WHERE a.id = $1)
            """,
            [.int32(id)]
        )
        guard let row = rows.first else { return nil }
        return try await mapping(row)
    }

    /// The one mapping of all applications of a delivery.
    func targetMapping(applications ids: [Int32]) async throws -> TargetMapping {
        var found: Set<TargetMapping> = []
        for id in ids {
            guard let mapping = try await targetMapping(application: id) else {
                let name = try await application(id).name
                throw StoreError(
                    .invalid,
                    "The filter uses columns of a target mapping, but the service of application \"\(name)\" has none.",
                    hint: "pushmta service set --mapping gives it one"
                )
            }
            found.insert(mapping)
        }
        guard let mapping = found.first, found.count == 1 else {
            throw StoreError(
                .invalid,
                "The filter uses columns of a target mapping, but the applications have different ones.",
                hint: "create a delivery for each service"
            )
        }
        return mapping
    }

    private func mappingRows(_ clause: String, _ parameters: [PostgresValue]) async throws -> [MappingRow] {
        let result = try await query(
            "SELECT m.id, m.name, m.label, m.view_name, m.key_column FROM pushmta_engine.target_mapping m \(clause)",
            parameters
        )
        return try all(result) { row in
            MappingRow(
                id: try row.int32(),
                name: try row.text(),
                label: try row.text(),
                view: try row.text(),
                keyColumn: try row.text()
            )
        }
    }

    /// A registered mapping with its view's present columns. The view was usable when it was registered, so a missing
    /// view is treated as a transient problem: it may be about to be created again.
    private func mapping(_ row: MappingRow) async throws -> TargetMapping {
        do {
            return try await target(row)
        } catch let error as StoreError where error.code == .invalid {
            throw StoreError(.unavailable, error.message, hint: error.hint)
        }
    }

    private func target(_ row: MappingRow) async throws -> TargetMapping {
        let resolved = try await resolve(name: row.name, view: row.view)
        return TargetMapping(
            id: row.id,
            name: row.name,
            label: row.label,
            view: resolved.view,
            keyColumn: try Self.key(row.keyColumn, of: resolved.columns, view: row.view),
            columns: resolved.columns
        )
    }

    private static func key(_ name: String, of columns: [MappingColumn], view: String) throws -> MappingColumn {
        guard let column = columns.first(where: { $0.name == name }) else {
            let nearest = NearestName.nearest(to: name, among: columns.map(\.name)).map { "did you mean \($0)?" }
            throw StoreError(.invalid, "\(view) has no column \"\(name)\" that may be read.", hint: nearest)
        }
        return column
    }
}
