import PostgresClient
import PushCore
import Store
import TestSupport

extension StoreFixture {
    /// A worker's id.
    static let worker = "11111111-8b86-4011-b42d-00cf4fc964ff"
    /// Another worker's id.
    static let otherWorker = "22222222-8b86-4011-b42d-00cf4fc964ff"

    func heartbeat(_ worker: String = StoreFixture.worker, leaseSeconds: Int = 15) async throws -> Bool {
        try await store.feedbackHeartbeat(
            FeedbackHeartbeat(worker: worker, host: "one", pid: 7, version: "1"),
            leaseSeconds: leaseSeconds
        )
    }

    /// Counts everything that can be counted; returns the numbers of messages, late outcomes and hits.
    @discardableResult
    func countAll() async throws -> (outcomes: Int64, late: Int64, hits: Int64) {
        _ = try await heartbeat()
        // Hits are deferred for a moment, for outcomes that are stored after them.
        try await sql("UPDATE pushmta_engine.tracking_uncounted SET created_at = created_at - interval '1 minute'")
        var outcomes: Int64 = 0
        while true {
            let count = try required(try await store.countOutcomes(worker: Self.worker, messages: 50))
            if count == 0 { break }
            outcomes += count
        }
        let late = try required(try await store.countLateOutcomes(worker: Self.worker, limit: 100))
        var hits: Int64 = 0
        while true {
            hits += try required(try await store.countHits(worker: Self.worker, limit: 1))
            // Deferred hits do not count.
            let due = "coalesce(next_at, created_at + interval '2 s') <= now()"
            if try await sql("SELECT count(*) FROM pushmta_engine.tracking_uncounted WHERE \(due)") == 0 { break }
        }
        return (outcomes, late, hits)
    }

    /// A figure of a statistics view.
    func figure(_ column: String, _ view: String = "delivery_statistics", _ condition: String = "true") async throws
        -> Int64
    {
        try await sql("SELECT coalesce(sum(\(column)), 0)::bigint FROM pushmta.\(view) WHERE \(condition)") ?? -1
    }

    /// A delivery's statistics must match its counters, and each view must add up to the same numbers.
    func assertStatistics(_ delivery: Int64) async throws -> Bool {
        let columns = ["sent", "failed", "ignored", "not_applicable", "canceled", "unknown"]
        let equal = columns.map { "s.\($0) = p.\($0)" }.joined(separator: " AND ")
        let whole = try await sql(
            """
            SELECT count(*) FROM pushmta.delivery_statistics s JOIN pushmta.delivery_progress p ON p.id = s.delivery_id
            WHERE s.delivery_id = \(delivery) AND \(equal)
            """
        )
        guard whole == 1, try await progressAgrees(delivery) else { return false }
        return try await viewsAgree(delivery)
    }

    /// A delivery's progress, which is read from sums, must match the sum over its parts.
    func progressAgrees(_ delivery: Int64) async throws -> Bool {
        let rest =
            "(p.size - p.handed_over - p.sent - p.failed - p.ignored - p.not_applicable - p.canceled - p.unknown)"
        func ended(_ column: String, _ status: Int) -> String {
            "sum(p.\(column) + CASE p.rest_status WHEN \(status) THEN \(rest) ELSE 0 END)"
        }
        return try await sql(
            """
            SELECT count(*) FROM pushmta.delivery_progress d WHERE d.id = \(delivery) AND (d.pending, d.sent, d.failed, d.ignored,
                d.not_applicable, d.canceled, d.unknown, d.late_outcomes, d.resent_after_ambiguity, d.journal_replayed) = (
                SELECT coalesce(sum(CASE WHEN p.state <> 'done' THEN \(rest) END), 0), sum(p.sent), \(ended("failed", 2)),
                    \(ended("ignored", 0)), \(ended("not_applicable", 8)), \(ended("canceled", 7)), \(ended("unknown", 9)),
                    sum(p.late_outcomes), sum(p.resent_after_ambiguity), sum(p.journal_replayed)
                FROM pushmta_engine.delivery_part p WHERE p.delivery_id = \(delivery))
            """
        ) == 1
    }

    /// The views of a delivery's statistics must add up to the same numbers.
    func viewsAgree(_ delivery: Int64) async throws -> Bool {
        let columns = ["sent", "failed", "canceled", "received", "received_unique", "clicked", "opened_unique"]
        for view in ["detail", "by_hour", "by_application", "by_version", "by_locale"] {
            for column in columns {
                let sum = try await figure(column, "delivery_statistics_\(view)", "delivery_id = \(delivery)")
                guard try await figure(column, "delivery_statistics", "delivery_id = \(delivery)") == sum else {
                    return false
                }
            }
        }
        return true
    }

    /// Stores hits of known messages.
    func hit(_ delivery: Int64, _ hits: [(sequence: Int32, kind: TrackingKind)], position: Int64) async throws {
        let day = try required(
            try await sql("SELECT log_day - date '2000-01-01' FROM pushmta_engine.delivery WHERE id = \(delivery)")
        )
        let now = try required(try await sql("SELECT (extract(epoch FROM now()) * 1000000)::bigint"))
        let resolved = hits.map { hit in
            ResolvedHit(
                message: .known(delivery: delivery, sequence: hit.sequence, logDay: Int32(clamping: day)),
                hit: TrackingHit(
                    id: TrackingID(message: .number(1), deliveries: [delivery], kind: hit.kind),
                    microseconds: now,
                    address: nil,
                    userAgent: ""
                )
            )
        }
        _ = try await store.recordHits(source: Self.source, position: position, host: "one", resolved)
    }
}
