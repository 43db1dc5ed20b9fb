import Gateways
import PushCore
import Store

extension DispatchState {
    /// A request batch in the gateway.
    struct Flight: Sendable {
        var claim: PartToken
        var rows: [Int32]
        let batch: GatewayRequestBatch
        /// Messages without a decision.
        private(set) var open: Int
        /// The approximate memory that the batch holds, in bytes.
        private(set) var byteCount: Int
        /// A bit for each batch index, set when its message has a decision.
        private var decided: [UInt64] = []
        /// When this few are open, the batch frees the memory of all others. Otherwise a few slow answers would keep
        /// the memory of many answered messages.
        private var letsGoAt: Int
        /// The batch indexes that got streams; they come in order, so this is nearly always one range.
        var departed: [Range<Int32>] = []
        /// Batch indexes that the gateway did not process; they are resent as the next attempt.
        var resend: [Int32] = []
        /// Batch indexes that never left, or were refused because of the application; they are resent as the same
        /// attempt.
        var unsent: [Int32] = []
        /// How often messages of this batch were handed over.
        var attempt = 1
        /// Whether the pause before the resend has begun.
        var hasPause = false

        init(claim: PartToken, rows: [Int32], batch: GatewayRequestBatch, attempt: Int = 1) {
            self.claim = claim
            self.rows = rows
            self.batch = batch
            self.attempt = attempt
            open = rows.count
            byteCount = batch.byteCount
            letsGoAt = Self.letsGo(below: rows.count)
        }

        /// A batch is copied when a quarter of it is open, and again at a quarter of that: together a third of the
        /// batch is copied.
        private static func letsGo(below count: Int) -> Int { count / 4 }

        var waiting: Int { resend.count + unsent.count }

        /// Notes that a message has its decision.
        mutating func decide(_ index: Int32) {
            open -= 1
            if decided.isEmpty { decided = [UInt64](repeating: 0, count: (rows.count + 63) / 64) }
            decided[Int(index) / 64] |= 1 << UInt64(index % 64)
        }

        /// Frees memory that no message needs, if it is much.
        mutating func letGo() {
            guard open > 0, open <= letsGoAt else { return }
            letsGoAt = Self.letsGo(below: open)
            let kept = rows.indices.filter { decided[$0 / 64] & 1 << UInt64($0 % 64) == 0 }
            batch.keepOnly(kept.map { Int32(truncatingIfNeeded: $0) })
            byteCount = batch.byteCount
        }

        /// Takes one message to resend in another batch, and whether that is its next attempt.
        mutating func takeWaiting() -> (index: Int32, isNextAttempt: Bool)? {
            let isNextAttempt = !resend.isEmpty
            guard let index = resend.popLast() ?? unsent.popLast() else { return nil }
            decide(index)
            if waiting == 0 { hasPause = false }
            return (index, isNextAttempt)
        }

        /// Drops the messages to resend: they go out in another batch, or are left to another owner.
        mutating func dropWaiting() {
            for index in resend + unsent { decide(index) }
            resend = []
            unsent = []
            hasPause = false
        }

        /// Whether the topic belongs to a push type with its own push tokens.
        var hasSuffixedTopic: Bool { !batch.attributes.topicSuffix.isEmpty }

        func hasDeparted(_ index: Int32) -> Bool { departed.contains { $0.contains(index) } }

        mutating func depart(_ range: Range<Int32>) {
            if let last = departed.last, last.upperBound == range.lowerBound {
                departed[departed.count - 1] = last.lowerBound..<range.upperBound
            } else {
                departed.append(range)
            }
        }
    }
}
