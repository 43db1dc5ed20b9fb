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
        /// About the memory that the batch holds.
        private(set) var byteCount: Int
        /// Bit by bit, the batch indexes of messages with a decision.
        private var decided: [UInt64] = []
        /// When so few are open, the batch lets go of all others: where a few answers take long, most memory would be that of messages that have
        /// theirs.
        private var letsGoAt: Int
        /// What has got streams, by batch index; it comes in order, so this is one range nearly always.
        var departed: [Range<Int32>] = []
        /// Batch indexes that the gateway did not process: they go out again as the next attempt.
        var resend: [Int32] = []
        /// Batch indexes that never left, or were refused for the application's sake: they go out again as if for the
        /// first time.
        var unsent: [Int32] = []
        /// How often messages of this batch have been handed over.
        var attempt = 1
        /// The pause before what is to be sent again has begun.
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

        /// A batch is copied when a quarter of it is left, and again with a quarter of that: a third of it all together.
        private static func letsGo(below count: Int) -> Int { count / 4 }

        var waiting: Int { resend.count + unsent.count }

        /// A message has its decision, whatever that is.
        mutating func decide(_ index: Int32) {
            open -= 1
            if decided.isEmpty { decided = [UInt64](repeating: 0, count: (rows.count + 63) / 64) }
            decided[Int(index) / 64] |= 1 << UInt64(index % 64)
        }

        /// Lets go of what no message needs any more, if it is much.
        mutating func letGo() {
            guard open > 0, open <= letsGoAt else { return }
            letsGoAt = Self.letsGo(below: open)
            let kept = rows.indices.filter { decided[$0 / 64] & 1 << UInt64($0 % 64) == 0 }
            batch.keepOnly(kept.map { Int32(truncatingIfNeeded: $0) })
            byteCount = batch.byteCount
        }

        /// One that is to go out again, in another batch, and whether as its next attempt.
        mutating func takeWaiting() -> (index: Int32, isNextAttempt: Bool)? {
            let isNextAttempt = !resend.isEmpty
            guard let index = resend.popLast() ?? unsent.popLast() else { return nil }
            decide(index)
            if waiting == 0 { hasPause = false }
            return (index, isNextAttempt)
        }

        /// Messages that go out again do so in another batch, or are left to another owner.
        mutating func dropWaiting() {
            for index in resend + unsent { decide(index) }
            resend = []
            unsent = []
            hasPause = false
        }

        /// Whether the topic is that of a push type with push tokens of its own.
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
