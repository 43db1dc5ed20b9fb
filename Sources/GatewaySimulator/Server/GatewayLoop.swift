import Foundation
import HTTP2
import NIOCore

/// A gateway's share of one event loop: its rules, its faults and its connections there. Everything runs on that loop.
final class GatewayLoop<Rules: GatewayRules> {
    let eventLoop: any EventLoop
    let recorder: GatewayRecorder
    private let conditions: SharedConditions
    private var knownVersion = 0
    var rules: Rules
    private(set) var plan = FaultPlan()
    /// No fault that concerns single requests is on.
    private(set) var isQuiet = true
    var dice: FaultDice
    private var connections: [Int: GatewayConnection<Rules>] = [:]
    private var pushes: [RecordedPush] = []
    private var refused = 0
    private var mostStreams = 0
    /// Seconds since 1970 at the read that is being handled.
    private(set) var now: Int64 = 0

    var queue = AnswerQueue<Rules>()
    var answersGiven: UInt64 = 0
    var wakeUp: (due: UInt64, task: Scheduled<Void>)?
    /// Answers that a stall holds back.
    var held: [DelayedAnswer<Rules>] = []
    /// When the stall ends; nil when there is none, the greatest number when nobody knows.
    var stallEnds: UInt64?

    init(eventLoop: any EventLoop, rules: Rules, recorder: GatewayRecorder, conditions: SharedConditions, seed: UInt64)
    {
        self.eventLoop = eventLoop
        self.rules = rules
        self.recorder = recorder
        self.conditions = conditions
        dice = FaultDice(seed: seed)
        refresh()
    }

    /// To be called before each read's requests: takes over what was changed from outside.
    func begin() {
        now = Int64(Date().timeIntervalSince1970)
        refresh()
    }

    /// Takes over conditions that were changed from outside.
    func refresh() {
        let version = conditions.version
        guard version != knownVersion else { return }
        knownVersion = version
        let current = conditions.current
        rules.apply(current)
        guard current.plan != plan else { return }
        plan = current.plan
        isQuiet = plan.isQuiet
        if let seed = plan.seed { dice = FaultDice(seed: seed) }
        startOrEndStall()
        for connection in connections.values { connection.planChanged() }
    }

    /// Remembers a push until the end of the read.
    @inline(__always)
    func note(_ judgement: Judgement, answer: UInt8, isAccepted: Bool) {
        guard judgement.isRecorded else { return }
        pushes.append(
            RecordedPush(key: judgement.key, tokenHash: judgement.tokenHash, answer: answer, isAccepted: isAccepted)
        )
    }

    /// Counts a stream that was refused or disowned.
    func noteRefused() {
        refused += 1
    }

    /// Remembers how many streams a connection has open.
    func noteStreams(_ count: Int) {
        mostStreams = max(mostStreams, count)
    }

    /// Records all that the read brought; the answers leave afterwards.
    func commit() {
        guard !pushes.isEmpty || refused > 0 else { return }
        recorder.record(pushes, refused: refused, concurrentStreams: mostStreams)
        pushes.removeAll(keepingCapacity: true)
        refused = 0
    }

    func opened(_ connection: GatewayConnection<Rules>, id: Int) {
        connections[id] = connection
        recorder.connectionOpened()
    }

    func closed(id: Int) {
        guard connections.removeValue(forKey: id) != nil else { return }
        recorder.connectionClosed()
    }

    /// Ends every connection.
    func shutDown() {
        wakeUp?.task.cancel()
        wakeUp = nil
        for connection in connections.values { connection.end() }
    }
}
