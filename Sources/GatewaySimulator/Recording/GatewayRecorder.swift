import Synchronization

/// The records and counters of one gateway. Event loops add what each read contained; tests and the control port read
/// them.
final class GatewayRecorder: Sendable {
    private struct State: Sendable {
        var table = MessageTable()
        var accepted = 0
        var rejected = [Int](repeating: 0, count: 256)
        var counters = GatewayCounters()
    }

    let gateway: SimulatedGateway
    private let file: RecordFile?
    private let state = Mutex(State())
    /// Requests that wait for their answer. It is an atomic because event loops change it more often than it is read.
    private let waiting = Atomic<Int>(0)
    private let meter = Mutex<OutageMeter?>(nil)

    /// The maximum number of breaks that are kept; a drill causes some hundreds.
    private static let maxBreaks = 10_000
    /// The minimum number of open requests for a fault to count as under load: enough that it hits requests in every
    /// stage.
    private static let load = 100

    /// Empty records, which are also written to the file.
    init(gateway: SimulatedGateway, file: RecordFile?) {
        self.gateway = gateway
        self.file = file
    }

    /// Records the pushes of one read, before their answers are sent.
    func record(_ pushes: [RecordedPush], refused: Int, injected: Int, concurrentStreams: Int) {
        // The requests of this read are not counted as waiting yet.
        let open = max(waiting.load(ordering: .relaxed), concurrentStreams)
        state.withLock { state in
            if open >= Self.load { state.counters.countFaults(refused + injected, waiting: open) }
            for push in pushes {
                guard push.key != .none else {
                    state.rejected[Int(push.answer)] += 1
                    continue
                }
                let times = state.table.record(
                    push.key,
                    tokenHash: push.tokenHash,
                    answer: push.answer,
                    isAccepted: push.isAccepted
                )
                if push.isAccepted {
                    state.accepted += 1
                    if times == 1 {
                        state.counters.uniqueAccepted += 1
                    } else if times == 2 {
                        state.counters.duplicates += 1
                    }
                }
                if push.answer == AnswerCatalog.unanswered {
                    state.counters.unanswered += 1
                } else if !push.isAccepted {
                    state.rejected[Int(push.answer)] += 1
                }
            }
            state.counters.refused += refused
            state.counters.highestConcurrentStreams = max(state.counters.highestConcurrentStreams, concurrentStreams)
        }
        file?.append(pushes, gateway: gateway)
    }

    /// Records that answers to already recorded messages are sent now.
    func answered(_ keys: [MessageKey]) {
        file?.append(answered: keys)
    }

    /// Changes the number of requests that wait for their answer.
    func waitingChanged(by change: Int) {
        waiting.add(change, ordering: .relaxed)
    }

    private func countFault(_ count: (inout GatewayCounters) -> Void) {
        let open = waiting.load(ordering: .relaxed)
        state.withLock { state in
            count(&state.counters)
            if open >= Self.load { state.counters.countFaults(1, waiting: open) }
        }
    }

    /// Records how many requests were open when a sender closed one of its connections.
    func connectionBroken() {
        let open = waiting.load(ordering: .relaxed)
        state.withLock { state in
            if state.counters.breaks.count < Self.maxBreaks { state.counters.breaks.append(open) }
        }
    }

    /// Counts a stream limit change that was announced to an open connection.
    func limitChanged() {
        countFault { $0.limitChanges += 1 }
    }

    /// Counts a request that may carry many messages.
    func requestCame() {
        state.withLock { $0.counters.requests += 1 }
    }

    /// Starts a new count of arrivals, or ends it. Does nothing if that is already the case.
    func meterOutage(_ isOut: Bool) {
        meter.withLock { meter in
            guard (meter?.isRunning ?? false) != isOut else { return }
            if isOut { meter = OutageMeter() } else { meter?.isRunning = false }
        }
    }

    /// Counts arrivals if there is an outage.
    func countInOutage(_ number: Int, _ counts: WritableKeyPath<OutageCount, [Int]>) {
        meter.withLock { $0?.add(number, to: counts) }
    }

    func connectionOpened() {
        state.withLock { state in
            state.counters.connections += 1
            state.counters.connectionsOpened += 1
        }
    }

    func connectionClosed() {
        state.withLock { $0.counters.connections -= 1 }
    }

    func goAwaySent() {
        countFault { $0.goAways += 1 }
    }

    /// Counts a deliberately dropped connection, and the requests that lose their answer by it.
    func connectionReset(cutOff: Int) {
        countFault { counters in
            counters.resets += 1
            counters.cutOff += cutOff
        }
    }

    var counters: GatewayCounters {
        let catalog = AnswerCatalog.of(gateway)
        return state.withLock { state in
            var counters = state.counters
            counters.accepted = state.accepted
            counters.waiting = max(0, waiting.load(ordering: .relaxed))
            counters.outage = meter.withLock { $0?.count }
            for (code, number) in state.rejected.enumerated() where number > 0 {
                counters.rejected[catalog.name(UInt8(code))] = number
            }
            return counters
        }
    }

    /// The record of a message; nil if it never arrived.
    func record(of key: MessageKey) -> MessageRecord? {
        state.withLock { $0.table.entry(key) }.map(describe)
    }

    /// The first messages that match the condition, in the order of their first arrival.
    func records(limit: Int, where condition: (MessageTable.Entry) -> Bool) -> [MessageRecord] {
        var found: [MessageTable.Entry] = []
        state.withLock { state in
            for number in 0..<state.table.count where found.count < limit && condition(state.table[number]) {
                found.append(state.table[number])
            }
        }
        return found.map(describe)
    }

    /// Clears messages and counters, except for the open connections.
    func reset() {
        state.withLock { state in
            let connections = state.counters.connections
            state = State()
            state.counters.connections = connections
        }
    }

    private func describe(_ entry: MessageTable.Entry) -> MessageRecord {
        let digits = String(entry.tokenHash, radix: 16)
        return MessageRecord(
            gateway: gateway,
            id: entry.key.text,
            seen: entry.seen,
            accepted: entry.accepted,
            tokenHash: String(repeating: "0", count: 8 - digits.count) + digits,
            answer: AnswerCatalog.of(gateway).name(entry.answer)
        )
    }
}

/// A gateway's record of one message.
package struct MessageRecord: Sendable, Codable, Equatable {
    /// The gateway that received the message.
    package var gateway: SimulatedGateway
    /// The message's id: a UUID in lower case, or a decimal number.
    package var id: String
    /// How often it arrived, accepted or not; the count stops at 4,095.
    package var seen: Int
    /// How often it was accepted; the count stops at 4,095.
    package var accepted: Int
    /// A hash of its last device token, as 8 hexadecimal digits.
    package var tokenHash: String
    /// The last answer: `Accepted`, `Unanswered` or the reason of the rejection.
    package var answer: String

    enum CodingKeys: String, CodingKey {
        case gateway, id, seen, accepted, answer
        case tokenHash = "token_hash"
    }
}
