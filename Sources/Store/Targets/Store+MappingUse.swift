import PostgresClient
import PushCore

extension Store {
    /// The columns of target mappings that started deliveries ask for and the views do not have, by mapping; each with the first such
    /// delivery.
    ///
    /// - Parameter mappings: the mappings that can be read, by their ids.
    func missingColumns(of mappings: [Int32: TargetMapping]) async throws -> [Int32: [String: Int64]] {
        var missing: [Int32: [String: Int64]] = [:]
        let rows = try await query(Self.mappingUsersSQL)
        for row in 0..<rows.rowCount {
            let id = try rows.int32(row, rows.columnCount - 1)
            guard let mapping = mappings[id] else { continue }
            let application = try ApplicationRow(rows, row)
            let delivery = try rows.int64(row, rows.columnCount - 4)
            var names = Self.columns(
                content: try rows.text(row, rows.columnCount - 3),
                of: application,
                delivery: delivery
            )
            if let text = try rows.textOrNil(row, rows.columnCount - 2), let filter = try? TargetFilter(parsing: text) {
                names.formUnion(filter.mappingColumns)
            }
            let known = Set(mapping.columns.map(\.name))
            for name in names where !known.contains(name) {
                missing[id, default: [:]][name] = min(delivery, missing[id]?[name] ?? .max)
            }
        }
        return missing
    }

    /// What a content reads of the mapping; nothing of one that cannot be used, which is told elsewhere.
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

    /// What is no part of `mapping.` is not looked into. The filter is read while the delivery is prepared, and not later.
    private static let mappingUsersSQL = """
        SELECT \(ApplicationRow.columns), d.id, d.content::text,
            CASE WHEN NOT d.prepared THEN d.target_filter END, v.target_mapping_id
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.delivery_application x ON x.delivery_id = d.id
        JOIN pushmta_engine.application a ON a.id = x.application_id
        JOIN pushmta_engine.service v ON v.id = a.service_id
        WHERE d.state IN ('pending', 'preparing', 'in_progress', 'paused') AND v.target_mapping_id IS NOT NULL
            AND (strpos(d.content::text, '\(MessageFields.mappingPrefix)') > 0
                OR strpos(d.target_filter, '\(MessageFields.mappingPrefix)') > 0)
        ORDER BY d.id
        """
}
