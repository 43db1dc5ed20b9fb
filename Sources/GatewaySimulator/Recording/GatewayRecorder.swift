import Synchronization

/// The records and counters of one gateway. Event loops bring what one read contained, tests and the control port look in.
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
    /// Requests that wait for their answer; event loops change it more often than anybody reads it.
    private let waiting = Atomic<Int>(0)
    private let meter = Mutex<OutageMeter?>(nil)

    /// So many breaks are kept: a drill causes some hundreds.
    private static let mostBreaks = 10_000
    /// So many open requests make a fault one under load: enough that it meets requests in every stage.
    private static let load = 100

    /// Empty records that go to that file as well.
    init(gateway: SimulatedGateway, file: RecordFile?) {
        self.gateway = gateway
        self.file = file
    }

    /// Takes the pushes of one read, before their answers leave.
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

    /// Takes messages that were recorded before and whose answers leave now.
    func answered(_ keys: [MessageKey]) {
        file?.append(answered: keys)
    }

    /// Counts requests that begin to wait for their answer, or cease to.
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

    /// Notes how many requests were open when a sender broke off one of its connections.
    func connectionBroken() {
        let open = waiting.load(ordering: .relaxed)
        state.withLock { state in
            if state.counters.breaks.count < Self.mostBreaks { state.counters.breaks.append(open) }
        }
    }

    /// Counts a stream limit that was announced to an open connection.
    func limitChanged() {
        countFault { $0.limitChanges += 1 }
    }

    /// Counts a request that may carry many messages.
    func requestCame() {
        state.withLock { $0.counters.requests += 1 }
    }

    /// Begins to count what comes, anew, or ends it; nothing if it does so already.
    func meterOutage(_ isOut: Bool) {
        meter.withLock { meter in
            guard (meter?.isRunning ?? false) != isOut else { return }
            if isOut { meter = OutageMeter() } else { meter?.isRunning = false }
        }
    }

    /// Counts what came if there is an outage.
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

    /// Counts a connection that is dropped on purpose, and the requests that lose their answer by it.
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

    /// What is known of that message; nil when it never came.
    func record(of key: MessageKey) -> MessageRecord? {
        state.withLock { $0.table.entry(key) }.map(describe)
    }

    /// The first messages that fit the condition, in the order in which they came first.
    func records(limit: Int, where condition: (MessageTable.Entry) -> Bool) -> [MessageRecord] {
        var found: [MessageTable.Entry] = []
        state.withLock { state in
            for number in 0..<state.table.count where found.count < limit && condition(state.table[number]) {
                found.append(state.table[number])
            }
        }
        return found.map(describe)
    }

    /// Forgets messages and counters, except for the connections that are open.
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

/// One push as it goes into the records.
struct RecordedPush: Sendable {
    var key: MessageKey
    var tokenHash: UInt32
    /// The answer's code in the gateway's catalog.
    var answer: UInt8
    /// The gateway took it; an accepted one may stay unanswered.
    var isAccepted: Bool
    /// The answer leaves with the read that brought the push; a later one is recorded when it leaves.
    var isAnswered: Bool
}

/// What a gateway remembers of one message.
public struct MessageRecord: Sendable, Codable, Equatable {
    /// The gateway that it was sent to.
    public var gateway: SimulatedGateway
    /// The id by which it is known: a UUID in lower case, or the decimal of a number.
    public var id: String
    /// How often it came, accepted or not; at most 4,095 are counted.
    public var seen: Int
    /// How often it was accepted; at most 4,095 are counted.
    public var accepted: Int
    /// A hash of the device token that it came with last, as 8 hexadecimal digits.
    public var tokenHash: String
    /// The last answer: `Accepted`, `Unanswered` or the reason of the rejection.
    public var answer: String

    enum CodingKeys: String, CodingKey {
        case gateway, id, seen, accepted, answer
        case tokenHash = "token_hash"
    }
}
