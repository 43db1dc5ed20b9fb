import PostgresClient
import PushCore

/// Counts of outcomes, in messages, and of what devices reported, in hits and messages.
package struct StatisticCounts: Sendable, Hashable {
    /// The columns of `pushmta.delivery_statistics`, in the order of ``names``.
    let values: [Int64]

    static let names = [
        "sent", "failed", "ignored", "not_applicable", "canceled", "unknown", "received", "received_unique", "opened",
        "opened_unique", "clicked", "clicked_unique",
    ]

    /// The counts with their names in JSON.
    package var named: [(name: String, count: Int64)] {
        zip(Self.names, values).map { name, count in
            let words = name.split(separator: "_")
            return (words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(), count)
        }
    }

    static func columns(of table: String) -> String { names.map { "\(table).\($0)" }.joined(separator: ", ") }

    init(_ row: inout RowReader) throws {
        values = try Self.names.map { _ in try row.int64() }
    }
}

/// The statistics of a delivery.
package struct APIStatisticRow: Sendable {
    /// Messages made so far.
    package let target: Int64
    /// People left out at preparation.
    package let excluded: Int64
    /// The counts of its messages.
    package let counts: StatisticCounts
    /// When it began, nil before.
    package let startedAt: DatabaseTime?
    /// When it ended, nil before.
    package let finishedAt: DatabaseTime?
    /// Whether all outcomes are counted; hits may still arrive.
    package let isComplete: Bool
}

/// What the statistics of a delivery can be grouped by.
package enum StatisticPart: String, Sendable, CaseIterable {
    /// Hours, in UTC.
    case hour
    case application
    /// Versions of the app.
    case version
    /// Languages of devices.
    case locale
}

/// One group of the statistics of a delivery.
package struct StatisticPartRow: Sendable {
    /// The start of the hour; nil for other groups.
    package let hour: DatabaseTime?
    /// The name of an application, a version or a locale; "" if unknown, and for hours.
    package let name: String
    /// The counts of its messages.
    package let counts: StatisticCounts
}

/// Messages of a delivery that were not sent for one reason.
package struct FailureRow: Sendable {
    /// The application; "" if unknown.
    package let application: String
    package let status: String
    /// `ignored`, `soft` or `hard`; nil if it is not a failure.
    package let failureType: String?
    /// The kind of failure as text; nil if it is not a failure.
    package let failureReason: String?
    /// The gateway's reason or PushMTA's own, "" for none.
    package let reason: String
    package let messages: Int64
}

extension Store {
    /// The statistics of a delivery.
    package func apiStatistics(delivery id: Int64) async throws -> APIStatisticRow {
        try first(
            try await query(
                """
                SELECT s.target, s.excluded, \(StatisticCounts.columns(of: "s")), s.started_at, s.finished_at, s.complete
                FROM pushmta_engine.api_statistics($1) s
                """,
                [.int64(id)]
            ),
            orThrow: "There is no delivery \(id)."
        ) { row in
            APIStatisticRow(
                target: try row.int64(),
                excluded: try row.int64(),
                counts: try StatisticCounts(&row),
                startedAt: try row.timeOrNil(),
                finishedAt: try row.timeOrNil(),
                isComplete: try row.bool()
            )
        }
    }

    /// The statistics of a delivery in groups, a page of them.
    package func apiStatistics(delivery id: Int64, by part: StatisticPart, offset: Int32, limit: Int32) async throws
        -> [StatisticPartRow]
    {
        let result = try await query(
            """
            SELECT s.hour, s.name, \(StatisticCounts.columns(of: "s"))
            FROM pushmta_engine.api_statistics_by($1, $2, $3::integer, $4::integer) s
            """,
            [.int64(id), .text(part.rawValue), .int32(offset), .int32(limit)]
        )
        return try all(result) { row in
            StatisticPartRow(
                hour: try row.timeOrNil(),
                name: try row.text(),
                counts: try StatisticCounts(&row)
            )
        }
    }

    /// Why messages of a delivery were not sent, a page of it.
    package func apiFailures(delivery id: Int64, offset: Int32, limit: Int32) async throws -> [FailureRow] {
        let result = try await query(
            """
            SELECT coalesce(f.application, ''), f.status, f.failure_type, f.failure_reason, coalesce(f.reason, ''), f.messages
            FROM pushmta_engine.api_failures($1, $2::integer, $3::integer) f
            """,
            [.int64(id), .int32(offset), .int32(limit)]
        )
        return try all(result) { row in
            FailureRow(
                application: try row.text(),
                status: try row.text(),
                failureType: try row.textOrNil(),
                failureReason: try row.textOrNil(),
                reason: try row.text(),
                messages: try row.int64()
            )
        }
    }
}
