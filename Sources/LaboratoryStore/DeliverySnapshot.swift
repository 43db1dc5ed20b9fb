import PostgresClient
import PushCore
import Store

/// A delivery's counters and its messages, counted one by one in the same snapshot.
package struct DeliverySnapshot: Sendable {
    /// The counters, which are sums over the parts.
    package let progress: DeliveryProgress
    /// Messages by status: rows of the broad log, `rest_status` of ended parts, and pending ones.
    package let rows: [MessageStatus: Int64]
    /// A run of sequence numbers. A delivery has one; an experiment has one for each cell.
    package struct Run: Sendable, Hashable {
        /// The cell of an experiment; 0 otherwise.
        package let cell: Int32
        /// The number of distinct sequence numbers.
        package let distinct: Int64
        /// The smallest sequence number, counted within the cell.
        package let first: Int32
        /// The greatest sequence number, counted within the cell.
        package let last: Int32
    }

    package let runs: [Run]

    /// The number of distinct sequence numbers.
    package var distinctMessages: Int64 { runs.reduce(0) { $0 + $1.distinct } }

    /// The number of messages counted.
    package var messages: Int64 { rows.values.reduce(0, +) }

    /// The number of messages counted more than once: those with two outcomes or in two unfinished parts.
    package var duplicateRows: Int64 { messages - distinctMessages }

    /// Everything that does not add up, in words; empty if all does.
    package var faults: [String] {
        let counters: [(MessageStatus, Int64)] = [
            (.pending, progress.pending), (.sent, progress.sent), (.failed, progress.failed),
            (.ignored, progress.ignored),
            (.notApplicable, progress.notApplicable), (.canceled, progress.canceled), (.unknown, progress.unknown),
        ]
        var faults = counters.compactMap { status, count in
            rows[status, default: 0] == count
                ? nil : "\(status): the counters say \(count), the rows \(rows[status, default: 0])"
        }
        let sum = counters.reduce(0) { $0 + $1.1 }
        if sum != progress.target { faults.append("target is \(progress.target), but the sum of all states is \(sum)") }
        if messages != progress.target {
            faults.append("target is \(progress.target), but there are \(messages) messages")
        }
        if duplicateRows != 0 { faults.append("\(duplicateRows) messages are counted twice") }
        for run in runs {
            // A continuous delivery lacks the numbers of messages that were never committed.
            let mayHaveGaps = progress.kind == .continuous && run.first >= 1 && Int64(run.last) >= run.distinct
            if !mayHaveGaps, run.first != 1 || Int64(run.last) != run.distinct {
                let place = run.cell == 0 ? "" : " in cell \(run.cell)"
                faults.append("\(run.distinct) sequence numbers\(place) go from \(run.first) to \(run.last)")
            }
        }
        return faults
    }
}

extension Store {
    /// Reads a delivery's counters, and counts its messages one by one, in one snapshot. It reads every message.
    package func snapshot(delivery id: Int64) async throws -> DeliverySnapshot {
        try await with { connection in
            try await connection.transaction(.snapshot) { transaction in
                let progress = try await transaction.execute(
                    PostgresStatement(
                        "SELECT \(Self.progressColumns) FROM pushmta.delivery_status($1) p",
                        [.int64(id)]
                    )
                )
                let rows = try await transaction.execute(PostgresStatement(Self.messageCountsSQL, [.int64(id)]))
                return try Self.snapshot(progress, rows)
            }
        }
    }

    private static func snapshot(_ progress: PostgresResult, _ rows: PostgresResult) throws -> DeliverySnapshot {
        var counts: [MessageStatus: Int64] = [:]
        var runs: [DeliverySnapshot.Run] = []
        try rows.each { row in
            let (found, count) = (try row.int16OrNil(), try row.int64())
            let run = DeliverySnapshot.Run(
                cell: try row.int32(),
                distinct: try row.int64(),
                first: try row.int32(),
                last: try row.int32()
            )
            guard let code = found else {
                runs.append(run)
                return
            }
            guard let status = MessageStatus(rawValue: code) else {
                throw StoreError(
                    .unexpectedAnswer,
                    "A message has the status \(code), which this program does not know."
                )
            }
            counts[status] = count
        }
        return DeliverySnapshot(
            progress: try progress.one(Self.progress),
            rows: counts,
            runs: runs
        )
    }

    /// The messages of `pushmta.message_status`, without the columns that only readers of single messages need.
    private static let messagesSQL = """
        SELECT b.status, b.sequence, b.attempt, b.reason
        FROM pushmta_engine.delivery d
        JOIN pushmta_engine.broad_log b ON b.log_day = d.log_day AND b.delivery_id = d.id
        WHERE d.id = $1
        UNION ALL
        SELECT coalesce(p.rest_status, 6::smallint), m.sequence, p.attempt, p.rest_reason
        FROM pushmta_engine.delivery_part p
        JOIN pushmta_engine.delivery_part_target t ON t.log_day = p.log_day AND t.part_id = p.id
        CROSS JOIN LATERAL generate_series(1, cardinality(t.subscription_ids)) n(place)
        CROSS JOIN LATERAL (SELECT CASE WHEN t.sequences IS NULL THEN t.first_sequence + n.place - 1
            ELSE t.sequences[n.place] END AS sequence) m
        WHERE p.delivery_id = $1 AND (p.state <> 'done' OR p.rest_status IS NOT NULL)
            AND NOT EXISTS (SELECT FROM pushmta_engine.broad_log b
                WHERE b.log_day = p.log_day AND b.delivery_id = p.delivery_id AND b.sequence = m.sequence)
        """

    private static let messageCountsSQL = """
        WITH message AS MATERIALIZED (\(messagesSQL))
        SELECT status, count(*), 0, 0::bigint, 0, 0 FROM message GROUP BY status
        UNION ALL
        SELECT NULL, 0, r.cell, count(DISTINCT r.place), min(r.place), max(r.place)
        FROM (SELECT n.cell, m.sequence - (n.cell << 27) AS place
            FROM message m CROSS JOIN (SELECT EXISTS (SELECT FROM pushmta_engine.experiment e WHERE e.delivery_id = $1) AS has_cells) x
            CROSS JOIN LATERAL (SELECT CASE WHEN x.has_cells THEN m.sequence >> 27 ELSE 0 END AS cell) n) r
        GROUP BY r.cell ORDER BY 1, 3
        """

    /// The outcomes so far of all messages of a delivery, by sequence number. Use it only for deliveries that fit in
    /// memory.
    package func outcomeRows(delivery id: Int64) async throws -> [MessageOutcome] {
        let result = try await query(
            "SELECT status, sequence, attempt, reason FROM (\(Self.messagesSQL)) m ORDER BY sequence",
            [.int64(id)]
        )
        return try all(result) { row in
            guard let status = MessageStatus(rawValue: try row.int16()) else {
                throw StoreError(.unexpectedAnswer, "A message has a status that this program does not know.")
            }
            return MessageOutcome(
                sequence: try row.int32(),
                status: status,
                attempt: try row.int16(),
                reason: try row.textOrNil() ?? ""
            )
        }
    }

    /// The messages of a delivery that were ever recorded as ambiguous: a gateway may have received them without a
    /// known answer.
    package func ambiguousMessages(delivery id: Int64) async throws -> Set<Int32> {
        let result = try await query(
            "SELECT DISTINCT sequence FROM pushmta.ambiguous_message WHERE delivery_id = $1",
            [.int64(id)]
        )
        var sequences: [Int32] = []
        try result.appendColumn(0, to: &sequences)
        return Set(sequences)
    }

    /// The 16-byte key from which a started delivery's message ids are made. Never log it.
    package func trackingKey(delivery id: Int64) async throws -> [UInt8] {
        let result = try await query(
            """
            SELECT k.key FROM pushmta_engine.delivery d JOIN pushmta_engine.tracking_key k ON k.log_day = d.log_day
            WHERE d.id = $1
            """,
            [.int64(id)]
        )
        return try first(result, orThrow: "There is no started delivery \(id).") { row in try row.bytes() }
    }
}

extension Store {
    /// The ids of all parts of a delivery, including its retry parts.
    package func parts(ofDelivery id: Int64) async throws -> Set<Int64> {
        try Self.idSet(
            try await query("SELECT id FROM pushmta_engine.delivery_part WHERE delivery_id = $1", [.int64(id)])
        )
    }
}

extension Store {
    /// What is stored about devices, and about callers that only pretend to be one, in relation to a delivery.
    package func kept(ofDelivery id: Int64) async throws -> KeptOfDevices {
        let result = try await query(
            """
            SELECT (SELECT count(*) FROM pushmta_engine.delivery d
                    JOIN pushmta_engine.tracking_log t ON t.log_day = d.log_day AND t.delivery_id = d.id WHERE d.id = $1),
                (SELECT coalesce(max(octet_length(s.extra::text)), 0) FROM pushmta_engine.subscription s),
                count(DISTINCT x.app_version), count(DISTINCT x.locale), coalesce(sum(x.n), 0)::bigint
            FROM pushmta_engine.delivery_statistic x WHERE x.delivery_id = $1
            """,
            [.int64(id)]
        )
        return try result.one { row in
            KeptOfDevices(
                hits: try row.int64(),
                maxExtraLength: Int64(try row.int32()),
                versions: try row.int64(),
                locales: try row.int64(),
                counted: try row.int64()
            )
        }
    }
}

/// What is stored about devices in relation to a delivery.
package struct KeptOfDevices: Sendable {
    /// The number of receipts and clicks in the log.
    package let hits: Int64
    /// The maximum size of a subscription's undeclared parameters, in bytes.
    package let maxExtraLength: Int64
    /// The number of app versions that the statistics count separately.
    package let versions: Int64
    /// The number of languages that the statistics count separately.
    package let locales: Int64
    /// The number of outcomes in the statistics.
    package let counted: Int64
}

/// The outcome of one message of a delivery.
package struct MessageOutcome: Sendable, Hashable {
    /// Its number within the delivery.
    package let sequence: Int32
    /// The status in which it ended, or `pending`.
    package let status: MessageStatus
    /// The attempt that led to it.
    package let attempt: Int16
    /// The gateway's or PushMTA's reason; "" if none.
    package let reason: String

    package init(sequence: Int32, status: MessageStatus, attempt: Int16, reason: String = "") {
        self.sequence = sequence
        self.status = status
        self.attempt = attempt
        self.reason = reason
    }
}
