import PushCore

/// Messages of one batch that travel in one request, because their bodies are equal, or a single one.
struct LegacyRequest {
    let batch: GatewayRequestBatch
    /// The messages' rows, in the order of the request; never empty.
    let rows: [Int32]

    /// The rows as ranges, neighbours together, in their order.
    var ranges: [Range<Int32>] {
        var ranges: [Range<Int32>] = []
        for row in rows {
            if let last = ranges.last, last.upperBound == row {
                ranges[ranges.count - 1] = last.lowerBound..<row + 1
            } else {
                ranges.append(row..<row + 1)
            }
        }
        return ranges
    }

    /// The requests of a batch: messages with equal bodies together, up to a number, in the order of their first message.
    static func requests(of batch: GatewayRequestBatch, mostMessages: Int) -> [LegacyRequest] {
        let bodies = batch.bodies
        var groups: [[Int32]] = []
        var groupOfBody: [ArraySlice<UInt8>: Int] = [:]
        for row in 0..<batch.count {
            if let group = groupOfBody[bodies[row]], groups[group].count < mostMessages {
                groups[group].append(Int32(truncatingIfNeeded: row))
            } else {
                groupOfBody[bodies[row]] = groups.count
                groups.append([Int32(truncatingIfNeeded: row)])
            }
        }
        return groups.map { LegacyRequest(batch: batch, rows: $0) }
    }
}
