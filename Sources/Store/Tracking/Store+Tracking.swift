import PostgresClient
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Store {
    /// The tracking keys of all days whose hits are kept, and of the days around today, which are made if they are missing: until the
    /// keyring's last day is over there are no others.
    public func trackingKeyring() async throws -> TrackingKeyring {
        let result = try await query("SELECT k.day, k.key, k.last_day FROM pushmta_engine.current_tracking_keys() k")
        let keys = try all(result) { rows, row in
            TrackingKey(logDay: try rows.int32(row, 0), key: try rows.bytes(row, 1))
        }
        let number = try await query("SELECT pushmta_engine.message_numbers_key()")
        return TrackingKeyring(
            keys,
            lastDay: result.rowCount > 0 ? try result.int32(0, 2) : nil,
            numbers: try NumberPermutation.make(key: number.bytes(0, 0))
        )
    }

    /// The position of the last transaction of a source that is stored, 0 if none is.
    public func trackingPosition(source: UUID) async throws -> Int64 {
        try await query("SELECT pushmta_engine.tracking_position($1)", [Self.value(source)]).int64(0, 0)
    }

    /// Stores hits in one transaction, which is the one of this position of the source: if it is stored already, or a later
    /// one, nothing happens.
    ///
    /// So it can be repeated for as long as nobody has heard how it ended. A unique violation means that another process has
    /// stored the first hit of one of these messages at the same moment: repeat it.
    ///
    /// - Returns: the places, from 0, of the hits that are of no message, or of a day that is gone; nil if the position was
    ///   stored before.
    public func recordHits(
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
        return try result.int32ArrayOrNil(0, 0)?.map { Int($0) - 1 }
    }

    private static func value(_ id: UUID) -> PostgresValue {
        let b = id.uuid
        let high = [b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = [b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return .uuid(high: high, low: low)
    }

    /// How many messages of a delivery were received and clicked on, whatever the number of their hits.
    public func firstHits(delivery id: Int64) async throws -> FirstHits {
        let result = try await query(
            """
            SELECT count(*) FILTER (WHERE t.kind = 1), count(*) FILTER (WHERE t.kind = 2)
            FROM pushmta_engine.delivery d
            JOIN pushmta_engine.tracking_log t ON t.log_day = d.log_day AND t.delivery_id = d.id AND t.first
            WHERE d.id = $1
            """,
            [.int64(id)]
        )
        return FirstHits(received: try result.int64(0, 0), clicked: try result.int64(0, 1))
    }
}
