import Foundation
import HTTP2
import NIOCore

/// A gateway's share of one event loop: its rules, its faults and its connections there. Everything runs on that loop.
final class GatewayLoop<Rules: GatewayRules> {
    let eventLoop: any EventLoop
    let recorder: GatewayRecorder
    /// The devices that receive accepted pushes.
    let fleet: DeviceFleet
    private let conditions: SharedConditions
    private var known = (version: 0, drops: 0)
    var rules: Rules
    private(set) var plan = FaultPlan()
    /// Whether no fault on single requests is active.
    private(set) var isQuiet = true
    /// Whether arrivals are counted per second.
    private(set) var isMetered = false
    /// Whether rejections are due to an outage, not to the sender.
    private(set) var isOutage = false
    var dice: FaultDice
    private var connections: [Int: GatewayConnection<Rules>] = [:]
    private var tally = ReadTally()
    /// The open streams of the connection whose read is being handled.
    private var openStreams = 0
    /// The time of the current read, in seconds since 1970.
    private(set) var now: Int64 = 0

    var queue = AnswerQueue()
    var wakeUp: (due: UInt64, task: Scheduled<Void>)?
    /// The answers that wait for the end of a stall.
    var held = AnswerGroup()
    /// When the stall ends; nil without a stall, and the maximum if its end is unknown.
    var stallEnds: UInt64?

    init(
        eventLoop: any EventLoop,
        rules: Rules,
        recorder: GatewayRecorder,
        fleet: DeviceFleet,
        conditions: SharedConditions,
        seed: UInt64
    ) {
        self.eventLoop = eventLoop
        self.rules = rules
        self.recorder = recorder
        self.fleet = fleet
        self.conditions = conditions
        dice = FaultDice(seed: seed)
        refresh()
    }

    /// Applies changes from outside; call it before each read's requests.
    func begin() {
        now = Int64(Date().timeIntervalSince1970)
        refresh()
    }

    /// Applies conditions that were changed from outside.
    func refresh() {
        let version = conditions.version
        guard version != known.version else { return }
        known.version = version
        let current = conditions.current
        rules.apply(current)
        isOutage = current.isOutage
        isMetered = current.isMetered
        if current.drops != known.drops {
            known.drops = current.drops
            dropSoon()
        }
        guard current.plan != plan else { return }
        plan = current.plan
        isQuiet = plan.isQuiet
        if let seed = plan.seed { dice = FaultDice(seed: seed) }
        startOrEndStall()
        for connection in connections.values { connection.planChanged() }
        if plan.outage?.connections != nil { dropSoon() }
    }

    /// Notes a push until the end of the read.
    @inline(__always)
    func note(_ judgement: Judgement, answer: UInt8, isAccepted: Bool, isAnswered: Bool) {
        guard judgement.isRecorded else { return }
        tally.pushes.append(
            RecordedPush(
                key: judgement.key,
                tokenHash: judgement.tokenHash,
                answer: answer,
                isAccepted: isAccepted,
                isAnswered: isAnswered
            )
        )
    }

    /// Delivers an accepted push to its device, if devices report messages.
    @inline(__always)
    func deliver(_ judgement: Judgement, _ body: @autoclosure () -> [UInt8]) {
        guard fleet.isReporting, judgement.isAccepted, judgement.isRecorded else { return }
        fleet.deliver(body())
    }

    /// Randomly chooses whether to reject a push that would have been accepted, and with which error.
    func drawError() -> (code: UInt8, retryAfter: String?)? {
        if let quota = plan.quotaPerMinute, !conditions.quota.takes(quota, at: NIODeadline.now().uptimeNanoseconds) {
            let reason = FCMReason.rateLimitExceeded.rawValue
            return AnswerCatalog.of(.fcm).code(ofReason: reason).map { ($0, nil) }
        }
        guard !plan.errors.isEmpty else { return nil }
        var draw = dice.unit()
        for error in plan.errors {
            draw -= error.rate
            guard draw < 0 else { continue }
            return AnswerCatalog.of(Rules.gateway).code(ofReason: error.reason).map { ($0, error.retryAfter) }
        }
        return nil
    }

    /// Notes that the answer to an already recorded push is sent now.
    func noteAnswered(_ judgement: Judgement) {
        if judgement.isRecorded { tally.answered.append(judgement.key) }
    }

    /// Counts a stream that was refused or left unprocessed.
    func noteRefused() {
        tally.refused += 1
    }

    /// Counts a push that would have been accepted but is rejected or left unanswered.
    func noteInjected() {
        tally.injected += 1
    }

    /// Notes the number of open streams of the connection whose read is being handled.
    func noteStreams(_ count: Int) {
        openStreams = count
    }

    /// Records everything from the read; the answers are sent afterwards.
    func commit() {
        if !tally.answered.isEmpty {
            recorder.answered(tally.answered)
            tally.answered.removeAll(keepingCapacity: true)
        }
        guard !tally.pushes.isEmpty || tally.refused > 0 else { return }
        recorder.record(tally.pushes, refused: tally.refused, injected: tally.injected, concurrentStreams: openStreams)
        tally.pushes.removeAll(keepingCapacity: true)
        tally.refused = 0
        tally.injected = 0
    }

    func opened(_ connection: GatewayConnection<Rules>, id: Int) {
        connections[id] = connection
        recorder.connectionOpened()
    }

    func closed(id: Int) {
        guard connections.removeValue(forKey: id) != nil else { return }
        recorder.connectionClosed()
    }

    /// Drops every connection after the current read, if there is one.
    private func dropSoon() {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { for connection in loop.value.connections.values { connection.abort() } }
    }

    /// Closes every connection.
    func shutDown() {
        wakeUp?.task.cancel()
        wakeUp = nil
        for connection in connections.values { connection.end() }
    }
}

/// What one read has brought, until it is recorded.
private struct ReadTally {
    var pushes: [RecordedPush] = []
    var answered: [MessageKey] = []
    var refused = 0
    var injected = 0
}
