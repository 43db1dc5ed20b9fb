import PostgresClient

/// An import of the last day.
package struct ImportEntry: Sendable {
    package let id: Int64
    package let application: String
    /// The name of the file.
    package let source: String
    package let startedAt: DatabaseTime
    /// When it was undone; nil if it was not.
    package let undoneAt: DatabaseTime?
    /// How many created or changed subscriptions were not undone.
    package let changes: Int64
}

/// What undoing an import did.
package struct ImportUndoReport: Sendable {
    /// Subscriptions that the import created, and that were deleted.
    package var removed = 0
    /// Subscriptions that were restored.
    package var restored = 0
    /// Subscriptions that have changed since, and stay as they are.
    package var left = 0
}

extension Store {
    /// The imports of the last day, newest first.
    package func imports() async throws -> [ImportEntry] {
        let result = try await query(
            """
            SELECT i.id, a.name, i.source, i.started_at, i.undone_at,
                (SELECT count(*) FROM pushmta_engine.subscription_import_change c WHERE c.import_id = i.id)
            FROM pushmta_engine.subscription_import i JOIN pushmta_engine.application a ON a.id = i.application_id
            WHERE i.started_at >= now() - interval '1 day' ORDER BY i.id DESC
            """
        )
        return try all(result) { row in
            ImportEntry(
                id: try row.int64(),
                application: try row.text(),
                source: try row.text(),
                startedAt: try row.time(),
                undoneAt: try row.timeOrNil(),
                changes: try row.int64()
            )
        }
    }

    /// Subscriptions that one transaction undoes: registrations wait for it, about 50 ms.
    private static let undoStep: Int32 = 2_000

    /// Undoes an import of the last day: deletes what it added, and restores what it changed. What has changed since
    /// stays. It can be called again after an error.
    package func undoImport(_ id: Int64) async throws -> ImportUndoReport {
        let known = try await query(
            """
            UPDATE pushmta_engine.subscription_import i SET undone_at = coalesce(i.undone_at, clock_timestamp())
            WHERE i.id = $1 AND i.started_at >= now() - interval '1 day' RETURNING 1
            """,
            [.int64(id)]
        )
        guard known.rowCount > 0 else {
            throw StoreError(
                .notFound,
                "There is no import \(id) from the last day.",
                hint: "pushmta subscription imports lists those that can be undone"
            )
        }
        var report = ImportUndoReport()
        for enables in [false, true] {
            var behind = Int64.min
            while true {
                let step = try await query(
                    "SELECT u.last_id, u.removed, u.restored FROM pushmta_engine.undo_import_step($1, $2, $3, $4) u",
                    [.int64(id), .int64(behind), .int32(Self.undoStep), .bool(enables)]
                ).one { row in
                    (last: try row.int64OrNil(), removed: Int(try row.int32()), restored: Int(try row.int32()))
                }
                report.removed += step.removed
                report.restored += step.restored
                guard let last = step.last else { break }
                behind = last
            }
        }
        report.left = try await query(
            "SELECT count(*) FROM pushmta_engine.subscription_import_change c WHERE c.import_id = $1",
            [.int64(id)]
        ).one { Int(try $0.int64()) }
        return report
    }

    /// Deletes the record of changes of imports that are more than a day old, as the active worker.
    ///
    /// - Returns: how many, 0 when nothing is left; nil if another worker is active.
    package func purgeImports(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_imports($2)", worker, [.int32(Int32(clamping: limit))])
    }
}
