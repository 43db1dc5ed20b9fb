import PostgresClient
import PushCore

extension ChunkTarget {
    /// What else is read of a delivery `d` whose chunk is made; the columns begin at a place of the caller's.
    static let columnsSQL = """
        d.one_per_user, d.allow_duplicates, d.target_filter, d.target_sql, coalesce(d.started_at, now()),
            EXISTS (SELECT FROM pushmta_engine.delivery_application x
                JOIN pushmta_engine.application a ON a.id = x.application_id
                JOIN pushmta_engine.delivery_application y ON y.delivery_id = x.delivery_id AND y.application_id > x.application_id
                JOIN pushmta_engine.application b ON b.id = y.application_id AND b.platform = a.platform
                    AND b.environment = a.environment
                WHERE x.delivery_id = d.id),
            \(ExclusionSources.columnSQL)
        """

    /// Reads what ``columnsSQL`` brought, from a column on.
    ///
    /// Throws `invalid` with the reason if the filter cannot be used, `unavailable` if it cannot be used now, as the view lacks a column.
    init(
        _ rows: PostgresResult,
        _ row: Int,
        from column: Int,
        mapping: () async throws -> TargetMapping
    ) async throws {
        onePerUser = try rows.bool(row, column)
        let allowsDuplicates = try rows.bool(row, column + 1)
        hasSharedTokens = try rows.bool(row, column + 5) && !allowsDuplicates
        exclusions = ExclusionSources(rawValue: Int(try rows.int32(row, column + 6)))
        rawSQL = try rows.textOrNil(row, column + 3)
        guard let text = try rows.textOrNil(row, column + 2) else { return }
        let parsed = try Self.parse(text)
        if !parsed.mappingColumns.isEmpty {
            let found = try await mapping()
            try found.require(parsed.mappingColumns.sorted())
            self.mapping = found
        }
        filter = try FilterSQL(
            parsed,
            firstParameter: Self.firstFilterParameter,
            mapping: self.mapping,
            start: try rows.time(row, column + 4)
        )
    }

    private static func parse(_ text: String) throws -> TargetFilter {
        do {
            return try TargetFilter(parsing: text)
        } catch {
            throw StoreError(.invalid, "\(error)")
        }
    }
}
