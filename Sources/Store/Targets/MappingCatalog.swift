import Content
import PostgresClient
import PushCore

extension Store {
    /// Looks up a view in the catalog: its full name, quoted, and the columns that ``ViewReader/role`` may read.
    func resolve(name: String, view: String) async throws -> (view: String, columns: [MappingColumn]) {
        let rows: PostgresResult
        do {
            rows = try await query(Self.catalogSQL, [.text(view)])
        } catch let error as PostgresError
            where error.sqlState?.hasPrefix("42") == true || error.sqlState == Self.notAnIdentifier
        {
            throw StoreError(
                .invalid,
                "Target mapping \"\(name)\": \"\(view)\" is not the name of a view.",
                hint: "write schema.view, with double quotes around a name with capitals or special characters"
            )
        }
        let found = try all(rows) { row in
            (
                view: try row.text(), isYours: try row.bool(), schema: try row.text(),
                column: try row.ifPresent(3, Self.mappingColumn)
            )
        }
        guard let first = found.first else {
            throw StoreError(
                .invalid,
                "Target mapping \"\(name)\": there is no view \(view) in this database, or you have no right to its schema.",
                hint: "create it, and write schema.view"
            )
        }
        guard first.isYours else {
            throw StoreError(
                .invalid,
                "Target mapping \"\(name)\": \(view) is not one of your views or tables.",
                hint: "register a view of the people in your own database"
            )
        }
        let columns = found.compactMap(\.column)
        guard !columns.isEmpty else {
            throw StoreError(
                .invalid,
                "Target mapping \"\(name)\": \(view) may not be read.",
                hint:
                    "GRANT USAGE ON SCHEMA \(first.schema) TO \(ViewReader.role); GRANT SELECT ON \(first.view) TO \(ViewReader.role)"
            )
        }
        return (first.view, columns)
    }

    private static func mappingColumn(_ row: inout RowReader) throws -> MappingColumn {
        MappingColumn(name: try row.text(), type: try row.text(), keyCondition: try row.text())
    }

    /// The SQLSTATE of `parse_ident` for a text that is not a name (invalid_parameter_value).
    private static let notAnIdentifier = "22023"

    /// One row for each readable column, or one with nulls if there is none. Since PostgreSQL 16 `to_regclass` accepts
    /// numbers and reports no error for an invalid name, so `parse_ident` checks the name. Our sessions' search path
    /// has no schema of other systems, so a name without a schema is looked up in `public`. Our own tables and the
    /// catalogs cannot be mappings: a template or a filter must not reach them.
    private static let catalogSQL = """
        SELECT format('%I.%I', n.nspname, c.relname),
            c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pushmta', 'pushmta_engine', 'pushmta_raw', 'information_schema')
                AND n.nspname !~ '^pg_', quote_ident(n.nspname),
            a.attname, format_type(a.atttypid, a.atttypmod),
            pushmta_engine.key_condition(a.attname, format_type(a.atttypid, a.atttypmod))
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND has_schema_privilege('\(ViewReader.role)', n.oid, 'USAGE')
            AND has_column_privilege('\(ViewReader.role)', c.oid, a.attnum, 'SELECT')
        WHERE c.oid = CASE WHEN cardinality(parse_ident($1)) > 0 THEN
            coalesce(to_regclass($1), CASE WHEN strpos($1, '.') = 0 THEN to_regclass('public.' || $1) END) END
        ORDER BY a.attnum
        """

    /// Whether looking up one key reads the whole view. In that case, so does each chunk of a preparation and each load
    /// of a part.
    package func readsWholeView(_ mapping: TargetMapping) async throws -> Bool {
        let plan = try await views.read(
            mapping.readSQL(["''"], oneByOne: true),
            userKeys: [""],
            timeout: nil,
            showsPlan: true
        )
        // The session's settings avoid a scan of the whole view unless there is no other way.
        return !plan.contains { $0.first??.contains("Index Cond") == true }
    }
}

extension Store {
    /// The columns of target mappings that started deliveries use but the views lack, by mapping, each with the first
    /// such delivery.
    ///
    /// - Parameter mappings: the readable mappings, by id.
    func missingColumns(of mappings: [Int32: TargetMapping]) async throws -> [Int32: [String: Int64]] {
        var missing: [Int32: [String: Int64]] = [:]
        let rows = try await query(Self.mappingUsersSQL)
        let users = try rows.all { row in
            (
                application: try ApplicationRow(&row), delivery: try row.int64(), content: try row.text(),
                filter: try row.textOrNil().map(Self.filter(tree:)), mapping: try row.int32()
            )
        }
        for user in users {
            guard let mapping = mappings[user.mapping] else { continue }
            var names = Self.columns(content: user.content, of: user.application, delivery: user.delivery)
            if let filter = user.filter { names.formUnion(filter.mappingColumns) }
            let known = Set(mapping.columns.map(\.name))
            for name in names where !known.contains(name) {
                missing[user.mapping, default: [:]][name] = min(user.delivery, missing[user.mapping]?[name] ?? .max)
            }
        }
        return missing
    }

    /// The mapping's columns that a content uses. It is empty for an unusable content, which is reported elsewhere.
    private static func columns(content: String, of application: ApplicationRow, delivery: Int64) -> Set<String> {
        guard let content = try? PushContent(json: application.completed(content: content)) else { return [] }
        // The names are the same in all formats of a platform.
        let template = try? LocalisedTemplate.compile(
            content: content,
            format: application.platform == .ios ? .apns : .fcmV1,
            deliveryID: delivery,
            messageIDFormat: application.messageIDFormat
        )
        return MessageFields.mappingColumns(template?.fields.map(\.name) ?? [])
    }

    /// Contents and filters without `mapping.` are skipped. A filter matters only until the delivery is prepared; an
    /// invalid one has no tree.
    private static let mappingUsersSQL = """
        SELECT \(ApplicationRow.columns), d.id, d.content::text,
            f.tree::text, v.target_mapping_id
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.delivery_application x ON x.delivery_id = d.id
        JOIN pushmta_engine.application a ON a.id = x.application_id
        JOIN pushmta_engine.service v ON v.id = a.service_id
        CROSS JOIN LATERAL pushmta_engine.parse_filter(CASE WHEN NOT d.prepared
            AND strpos(d.target_filter, '\(MessageFields.mappingPrefix)') > 0 THEN d.target_filter END) f
        WHERE d.state IN ('analysing', 'ready', 'pending', 'preparing', 'in_progress', 'paused') AND v.target_mapping_id IS NOT NULL
            AND (strpos(d.content::text, '\(MessageFields.mappingPrefix)') > 0
                OR strpos(d.target_filter, '\(MessageFields.mappingPrefix)') > 0)
        ORDER BY d.id
        """
}
