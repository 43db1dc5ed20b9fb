import PostgresClient
import PushCore

/// The subscriptions for which a gateway has ever accepted a message, as far as they were read.
///
/// It is stored separately from the subscriptions, one bit for each: the first delivery to a million devices sets a
/// thousand rows of 128 bytes, not a million rows with seven indexes. A bit is set once; a replaced token clears it.
struct SubscriptionAcceptance {
    /// This many ids share a row.
    static let blockSize: Int64 = 1_024
    /// The same as a power of two, in SQL.
    private static let blockBits = 10
    /// PostgreSQL's binary form of a bit string begins with the number of its bits.
    private static let headerSize = 4

    private var blocks: [Int64: [UInt8]] = [:]

    /// Reads the rows of a block and its bits.
    init(_ rows: PostgresResult) throws {
        try rows.each { row in
            let (block, bits) = (try row.int64(), try row.bytes())
            guard bits.count == Self.headerSize + Int(Self.blockSize) / 8 else {
                throw StoreError(.unexpectedAnswer, "A row of subscription_acceptance has \(bits.count) bytes.")
            }
            blocks[block] = bits
        }
    }

    /// Whether each of some subscriptions has ever accepted a message; empty if none has.
    func flags(_ ids: [Int64]) -> [Bool] {
        guard !blocks.isEmpty else { return [] }
        var block: (number: Int64, bits: [UInt8]?) = (-1, nil)
        return ids.map { id in
            let number = id >> Int64(Self.blockBits)
            // Ids are nearly always in order.
            if number != block.number { block = (number, blocks[number]) }
            guard let bits = block.bits else { return false }
            let place = Int(id & (Self.blockSize - 1))
            return bits[Self.headerSize + place / 8] & (0x80 >> UInt8(place % 8)) != 0
        }
    }

    /// The blocks of a part's messages: parameters are its log day, its id and its application.
    static func statement(_ part: ClaimedPart) -> PostgresStatement {
        PostgresStatement(
            part.isDense && !part.hasVariables ? denseSQL : sparseSQL,
            [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.id), .int32(part.applicationID)]
        )
    }

    /// The same of several parts of one application and day.
    static func statement(_ parts: [ClaimedPart]) -> PostgresStatement {
        PostgresStatement(
            sharedSQL,
            [
                .date(daysSince2000: parts.first?.logDay.daysSince2000 ?? 0), .int64Array(parts.map(\.id)),
                .int32(parts.first?.applicationID ?? 0),
            ]
        )
    }

    static let denseSQL = """
        SELECT a.block, a.accepted FROM pushmta_engine.subscription_acceptance a
        WHERE a.application_id = $3
            AND a.block >= (SELECT t.subscription_ids[1] >> \(blockBits) FROM pushmta_engine.delivery_part_target t
                WHERE t.log_day = $1 AND t.part_id = $2)
            AND a.block <= (SELECT t.subscription_ids[cardinality(t.subscription_ids)] >> \(blockBits)
                FROM pushmta_engine.delivery_part_target t WHERE t.log_day = $1 AND t.part_id = $2)
        """

    static let sparseSQL = sparseSQL("= $2")
    static let sharedSQL = sparseSQL("= ANY($2)")

    private static func sparseSQL(_ isOne: String) -> String {
        """
        SELECT a.block, a.accepted FROM pushmta_engine.subscription_acceptance a
        WHERE a.application_id = $3 AND a.block = ANY(ARRAY(
            SELECT DISTINCT u.id >> \(blockBits) FROM pushmta_engine.delivery_part_target t
            CROSS JOIN LATERAL unnest(t.subscription_ids) u(id) WHERE t.log_day = $1 AND t.part_id \(isOne)))
        """
    }

    /// Records that messages to subscriptions of an application were accepted for the first time.
    ///
    /// Blocks are locked in order, after the parts; bits that are already set are not written again.
    static func noting(_ ids: [Int64], of application: Int32) -> PostgresStatement {
        let blocks = blocks(of: ids)
        return PostgresStatement(
            notingSQL,
            [.int32(application), .int64Array(blocks.numbers), .bitsColumn(bytes: blocks.bits, bits: Int(blockSize))]
        )
    }

    /// The blocks of ids in order, each with the bits of its ids.
    private static func blocks(of ids: [Int64]) -> (numbers: [Int64], bits: [UInt8]) {
        let bytes = Int(blockSize) / 8
        var numbers: [Int64] = []
        var bits: [UInt8] = []
        for id in ids.sorted() {
            let number = id >> Int64(blockBits)
            if number != numbers.last {
                numbers.append(number)
                bits += repeatElement(0, count: bytes)
            }
            let place = Int(id & (blockSize - 1))
            bits[bits.count - bytes + place / 8] |= 0x80 >> UInt8(place % 8)
        }
        return (numbers, bits)
    }

    static let notingSQL = """
        INSERT INTO pushmta_engine.subscription_acceptance AS a (application_id, block, accepted)
        SELECT $1, u.block, u.accepted FROM unnest($2::bigint[], $3::bit varying[]) u(block, accepted)
        ON CONFLICT (application_id, block) DO UPDATE SET accepted = a.accepted | excluded.accepted
        WHERE a.accepted & excluded.accepted <> excluded.accepted
        """

    /// Whether any subscription of a part's application has ever accepted a message: a condition on a part `p`.
    static let isApplicationProven = """
        EXISTS (SELECT FROM pushmta_engine.subscription_acceptance x WHERE x.application_id = p.application_id)
        """
}
