import PostgresClient
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Store {
    /// The tracking keys of all days whose hits are kept, and of the days around today, which are created if missing.
    /// Until the keyring's last day is over, no other keys are used.
    package func trackingKeyring() async throws -> TrackingKeyring {
        let result = try await query("SELECT k.day, k.key, k.last_day FROM pushmta_engine.current_tracking_keys() k")
        let keys = try all(result) { row in
            (key: TrackingKey(logDay: try row.int32(), key: try row.bytes()), lastDay: try row.int32OrNil())
        }
        let number = try await query("SELECT pushmta_engine.message_numbers_key()")
        return TrackingKeyring(
            keys.map(\.key),
            lastDay: keys.first?.lastDay,
            numbers: try NumberPermutation.make(key: number.one { try $0.bytes() })
        )
    }

    /// Stores hits in the transaction that has this position of the source. Does nothing if this position or a later
    /// one is already stored.
    ///
    /// So it can be repeated until the result is known. A unique violation means that another process has stored the
    /// first hit of one of these messages at the same moment: repeat it.
    ///
    /// - Returns: the indexes, from 0, of the hits that belong to no message, or to a deleted day; nil if the position
    ///   was already stored.
    package func recordHits(
        source: UUID,
        position: Int64,
        host: String,
        _ hits: [ResolvedHit],
        dropped: DroppedHits = DroppedHits()
    ) async throws -> [Int]? {
        let columns = HitColumns(hits)
        let result = try await query(
            """
            SELECT pushmta_engine.record_hits($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
            """,
            [Self.value(source), .int64(position), .text(host)] + columns.values
                + [.int64(dropped.malformed), .int64(dropped.forged), .int64(dropped.foreign)]
        )
        return try result.one { row in try row.int32ArrayOrNil()?.map { Int($0) - 1 } }
    }

    private static func value(_ id: UUID) -> PostgresValue {
        let b = id.uuid
        let high = [b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = [b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return .uuid(high: high, low: low)
    }

    /// How many messages of a delivery were received and clicked on, whatever the number of their hits.
    package func firstHits(delivery id: Int64) async throws -> FirstHits {
        let result = try await query(
            """
            SELECT count(*) FILTER (WHERE t.kind = 1), count(*) FILTER (WHERE t.kind = 2)
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.tracking_log t ON t.log_day = d.log_day AND t.delivery_id = d.id AND t.first
            WHERE d.id = $1
            """,
            [.int64(id)]
        )
        return try result.one { row in FirstHits(received: try row.int64(), clicked: try row.int64()) }
    }
}

/// Hits as the arrays that `record_hits` accepts.
struct HitColumns {
    private var deliveries: [Int64?] = []
    private var others: [Int64?] = []
    private var numbers: [Int64?] = []
    private var sequences: [Int32] = []
    private var days: [Int32] = []
    private var kinds: [Int16] = []
    private var times: [Int64] = []
    private var addresses: [String?] = []
    private var platforms: [String?] = []
    private var agents: [String?] = []

    init(_ hits: [ResolvedHit]) {
        for hit in hits { append(hit) }
    }

    var values: [PostgresValue] {
        [
            .int64ArrayWithNulls(deliveries), .int64ArrayWithNulls(others), .int64ArrayWithNulls(numbers),
            .int32Array(sequences), .int32Array(days), .int16Array(kinds),
            .timestampArray(microsecondsSince2000: times),
            .textArray(addresses), .textArray(platforms), .textArray(agents),
        ]
    }

    private mutating func append(_ hit: ResolvedHit) {
        switch hit.message {
        case .known(let delivery, let sequence, let logDay):
            deliveries.append(delivery)
            others.append(nil)
            numbers.append(nil)
            sequences.append(sequence)
            days.append(logDay)
        case .numbered(let number, let candidates):
            deliveries.append(candidates.first)
            others.append(candidates.dropFirst().first)
            numbers.append(number)
            sequences.append(0)
            days.append(0)
        }
        kinds.append(hit.hit.id.kind.rawValue)
        times.append(hit.hit.microseconds &- DatabaseTime.epochDistance)
        addresses.append(hit.hit.address?.description)
        platforms.append(hit.hit.platform?.rawValue)
        agents.append(hit.hit.userAgent.isEmpty ? nil : hit.hit.userAgent)
    }
}

/// The messages of a delivery for which devices reported something, each counted once.
package struct FirstHits: Sendable, Hashable {
    package var received: Int64
    /// Messages that were clicked on or opened.
    package var clicked: Int64

    package init(received: Int64, clicked: Int64) {
        self.received = received
        self.clicked = clicked
    }
}
