import PostgresClient

/// An import of the last day.
public struct ImportEntry: Sendable {
    public let id: Int64
    public let application: String
    /// Which file it was.
    public let source: String
    public let startedAt: DatabaseTime
    /// When it was undone; nil if it was not.
    public let undoneAt: DatabaseTime?
    /// How many subscriptions it made or changed that were not undone.
    public let changes: Int64
}

/// What undoing an import did.
public struct ImportUndoReport: Sendable {
    /// Subscriptions that the import made, and that are gone.
    public var removed = 0
    /// Subscriptions that are as they were before.
    public var restored = 0
    /// Subscriptions that have changed since, and that stay as they are.
    public var left = 0
}

extension Store {
    /// The imports of the last day, newest first.
    public func imports() async throws -> [ImportEntry] {
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

    /// Subscriptions that one transaction undoes: registrations wait for it, some 50 ms.
    private static let undoStep: Int32 = 2_000

    /// Undoes an import of the last day: what it added is deleted, what it changed is restored. What has changed since stays. After an
    /// error it may be called again.
    public func undoImport(_ id: Int64) async throws -> ImportUndoReport {
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

    /// Forgets changes of imports that are more than a day old, as the worker that acts.
    ///
    /// - Returns: how many, 0 when nothing is left; nil if another worker acts.
    public func purgeImports(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_imports($2)", worker, [.int32(Int32(clamping: limit))])
    }
}
