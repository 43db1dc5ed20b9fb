import PostgresClient
import PushCore

extension Store {
    /// Whether a filter can be used for these applications: its text, its fields, and the columns of their mapping.
    ///
    /// Throws `invalid` with the place and the reason if it cannot.
    public func checkFilter(_ text: String, applications names: [String]) async throws {
        let filter: TargetFilter
        do {
            filter = try TargetFilter(parsing: text)
        } catch {
            throw StoreError(.invalid, "\(error)")
        }
        var ids: [Int32] = []
        for name in names { ids.append(try await application(named: name).id) }
        let mapping = filter.mappingColumns.isEmpty ? nil : try await targetMapping(applications: ids)
        let now = try await databaseClock()
        _ = try FilterSQL(filter, firstParameter: 1, mapping: mapping, start: now)
    }

    /// The one mapping of all applications of a delivery.
    func targetMapping(delivery id: Int64) async throws -> TargetMapping {
        let rows = try await query(
            "SELECT application_id FROM pushmta_engine.delivery_application WHERE delivery_id = $1 ORDER BY 1",
            [.int64(id)]
        )
        return try await targetMapping(applications: try all(rows) { rows, row in try rows.int32(row, 0) })
    }

    /// A plan takes some milliseconds.
    private static let longestPlan = Duration.seconds(2)

    /// Whom a delivery goes to, compiled.
    ///
    /// Throws `invalid`, or the database's own error, with the reason if its filter or its condition cannot be used.
    func chunkTarget(of id: Int64) async throws -> ChunkTarget {
        let rows = try await query(
            "SELECT \(ChunkTarget.columnsSQL) FROM pushmta_engine.delivery d WHERE d.id = $1",
            [.int64(id)]
        )
        guard rows.rowCount > 0 else { throw StoreError(.notFound, "There is no delivery \(id).") }
        let target = try await ChunkTarget(rows, 0, from: 0) { try await targetMapping(delivery: id) }
        guard let condition = target.rawSQL else { return target }
        // One expression fits into both kinds of brackets. What closes a bracket to get out of its place fits into one at most.
        for shape in ["(\(condition)\n)", "ARRAY[\(condition)\n]::boolean[] = '{}'"] {
            let sql = "EXPLAIN SELECT FROM pushmta_engine.subscription s WHERE \(shape)"
            do {
                // What a plan computes beforehand may take any time, too.
                try await group([Self.limit(Self.longestPlan), PostgresStatement(sql, prepare: false)])
            } catch let error as PostgresError where error.sqlState?.hasPrefix("42") == true {
                throw StoreError(.invalid, "The condition in SQL of delivery \(id) cannot be used: \(error.message)")
            }
        }
        return target
    }
}
