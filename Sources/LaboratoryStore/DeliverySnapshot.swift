import PostgresClient
import PushCore
import Store

/// A delivery's counters and its messages, counted one by one in the same snapshot.
public struct DeliverySnapshot: Sendable {
    /// The counters, sums over the parts.
    public let progress: DeliveryProgress
    /// Messages by status: rows of the broad log, `rest_status` of ended parts, and pending ones.
    public let rows: [MessageStatus: Int64]
    /// Different sequence numbers among them.
    public let distinctMessages: Int64
    /// The smallest and the greatest sequence number; 0 without messages.
    public let firstSequence: Int32
    /// The greatest sequence number; 0 without messages.
    public let lastSequence: Int32

    public init(
        progress: DeliveryProgress,
        rows: [MessageStatus: Int64],
        distinctMessages: Int64,
        firstSequence: Int32,
        lastSequence: Int32
    ) {
        self.progress = progress
        self.rows = rows
        self.distinctMessages = distinctMessages
        self.firstSequence = firstSequence
        self.lastSequence = lastSequence
    }

    /// All messages that were counted.
    public var messages: Int64 { rows.values.reduce(0, +) }

    /// Messages that are counted more than once: they have two outcomes, or are in two unfinished parts.
    public var duplicateRows: Int64 { messages - distinctMessages }

    /// What does not add up, each in words; empty when everything does.
    public var faults: [String] {
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
        if sum != progress.target { faults.append("target is \(progress.target), the sum of all states \(sum)") }
        if messages != progress.target { faults.append("target is \(progress.target), there are \(messages) messages") }
        if duplicateRows != 0 { faults.append("\(duplicateRows) messages are counted twice") }
        // Numbers of messages that were never committed are missing in a continuous delivery.
        let hasGaps = progress.kind == .continuous && firstSequence >= 1 && Int64(lastSequence) >= progress.target
        if messages > 0, !hasGaps, firstSequence != 1 || Int64(lastSequence) != progress.target {
            faults.append("sequence numbers go from \(firstSequence) to \(lastSequence)")
        }
        return faults
    }

    public var isConsistent: Bool { faults.isEmpty }
}

extension Store {
    /// A delivery's counters and its messages counted one by one, in one snapshot. Reads every message.
    public func snapshot(delivery id: Int64) async throws -> DeliverySnapshot {
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
        var all: (distinct: Int64, first: Int32, last: Int32) = (0, 0, 0)
        try rows.each { row in
            let (found, count) = (try row.int16OrNil(), try row.int64())
            let sums = (try row.int64(), try row.int32(), try row.int32())
            guard let code = found else {
                all = sums
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
            distinctMessages: all.distinct,
            firstSequence: all.first,
            lastSequence: all.last
        )
    }

    /// The same messages as `pushmta.message_status`, without what only a reader of single messages needs.
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
        SELECT status, count(*), 0::bigint, 0, 0 FROM message GROUP BY status
        UNION ALL
        SELECT NULL, 0, count(DISTINCT sequence), coalesce(min(sequence), 0), coalesce(max(sequence), 0) FROM message
        """

    /// What became of every message of a delivery so far, by sequence number; for deliveries of a size that fits in memory.
    public func outcomeRows(delivery id: Int64) async throws -> [MessageOutcome] {
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

    /// Messages of a delivery of which it was ever on record that a gateway may have had them without a known answer.
    public func ambiguousMessages(delivery id: Int64) async throws -> Set<Int32> {
        let result = try await query(
            "SELECT DISTINCT sequence FROM pushmta.ambiguous_message WHERE delivery_id = $1",
            [.int64(id)]
        )
        var sequences: [Int32] = []
        try result.appendColumn(0, to: &sequences)
        return Set(sequences)
    }

    /// The 16 bytes from which a started delivery's message ids are made; never in a log.
    public func trackingKey(delivery id: Int64) async throws -> [UInt8] {
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
    /// The ids of all parts of a delivery, its retry parts among them.
    public func parts(ofDelivery id: Int64) async throws -> Set<Int64> {
        try Self.idSet(
            try await query("SELECT id FROM pushmta_engine.delivery_part WHERE delivery_id = $1", [.int64(id)])
        )
    }
}

extension Store {
    /// What is kept of devices, and of callers that only claim to be one, around a delivery.
    public func kept(ofDelivery id: Int64) async throws -> KeptOfDevices {
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
                longestExtra: Int64(try row.int32()),
                versions: try row.int64(),
                locales: try row.int64(),
                counted: try row.int64()
            )
        }
    }
}

/// What is kept of devices around a delivery.
public struct KeptOfDevices: Sendable {
    /// Receipts and clicks in the log.
    public let hits: Int64
    /// The longest of all parameters that no application declared, in bytes.
    public let longestExtra: Int64
    /// Versions that statistics tell apart.
    public let versions: Int64
    /// Languages that statistics tell apart.
    public let locales: Int64
    /// Outcomes that statistics have.
    public let counted: Int64
}

/// What became of one message of a delivery.
public struct MessageOutcome: Sendable, Hashable {
    /// Its number within the delivery.
    public let sequence: Int32
    /// How it ended, or `pending`.
    public let status: MessageStatus
    /// The attempt that brought it there.
    public let attempt: Int16
    /// The gateway's words or ours, "" if none.
    public let reason: String

    public init(sequence: Int32, status: MessageStatus, attempt: Int16, reason: String = "") {
        self.sequence = sequence
        self.status = status
        self.attempt = attempt
        self.reason = reason
    }
}
