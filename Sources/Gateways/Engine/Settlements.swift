import PushCore

/// The outcomes of one read, by batch.
struct Settlements {
    struct Settlement {
        var batch: GatewayRequestBatch
        var outcomes: [Outcome]
        var latencies: [UInt32]
    }

    private(set) var all: [Settlement] = []
    private var current = 0
    private let expected: Int

    /// - Parameter expected: how many outcomes will come at most.
    init(expected: Int) {
        self.expected = expected
    }

    mutating func add(_ outcome: Outcome, _ latencyMicroseconds: UInt32, _ batch: GatewayRequestBatch) {
        // Answers of a read are mostly of the batch before; a read has few batches.
        if current >= all.count || all[current].batch !== batch { current = position(of: batch) }
        all[current].outcomes.append(outcome)
        all[current].latencies.append(latencyMicroseconds)
    }

    private mutating func position(of batch: GatewayRequestBatch) -> Int {
        if let known = all.firstIndex(where: { $0.batch === batch }) { return known }
        var settlement = Settlement(batch: batch, outcomes: [], latencies: [])
        settlement.outcomes.reserveCapacity(expected)
        settlement.latencies.reserveCapacity(expected)
        all.append(settlement)
        return all.count - 1
    }
}
