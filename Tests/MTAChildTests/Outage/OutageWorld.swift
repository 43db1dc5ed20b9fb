import PushCore
import TestSupport

@testable import Gateways
@testable import MTAChild
@testable import Store

/// A failing gateway's answer to a request, as its dialect reads it.
struct OutageAnswer: Sendable {
    let platform: Platform
    let status: Int16
    let body: String
    var retryAfterSeconds: Int32?

    func outcome(_ index: Int32) -> Outcome {
        let bytes = Array(body.utf8)
        let reason = platform == .ios ? APNsErrorBody(bytes).reason : FCMErrorBody(bytes).reason
        let row =
            platform == .ios
            ? AnswerTable.apns(status: status, reason: reason) : AnswerTable.fcmV1(status: status, reason: reason)
        let asked = row.outcomeClass == .retry ? retryAfterSeconds.map { $0 * 1_000 } : nil
        return Outcome(
            index: index,
            outcomeClass: row.outcomeClass,
            status: status,
            reason: reason,
            tokenEffect: row.tokenEffect(timestamp: nil),
            retryAfterMilliseconds: row.outcomeClass == .retry ? asked ?? row.delayMilliseconds : nil,
            isPauseAdvice: asked == nil && row.delayMilliseconds != nil,
            applicationWide: row.application == .stop || row.application == .pause,
            isTokenDoubtful: row.isDoubtful,
            failure: row.failure,
            fault: row.answerFault
        )
    }
}

/// Two hosts with their children, a database and a gateway on a manual clock.
final class OutageWorld {
    enum Gateway {
        case well
        case answers(OutageAnswer, share: Double)
        /// It accepts requests and messages, and answers none.
        case silent
        case refused

        var isRefused: Bool { if case .refused = self { true } else { false } }
    }

    /// The gateway's traffic in one second.
    struct Second {
        var requests = 0
        var dials = 0
        var accepted = 0
    }

    /// Milliseconds between two steps while anything happens.
    static let tick: Int64 = 50
    /// Streams of a child; with ``latency`` they carry 200 messages a second.
    static let streams = 40
    private static let latency: Int64 = 200
    /// A refusal costs a gateway nothing.
    private static let refusalLatency: Int64 = 20
    /// The default of `requestTimeoutSec`.
    private static let timeout: Int64 = 30_000
    private static let hosts = 2
    /// The messages of a part, and the number of waiting parts.
    private static let partSize = 100
    private static let backlog = 20

    var random: TestRandom
    /// Milliseconds on the monotonic clock.
    private(set) var time: Int64 = 0
    private var clockError: Int64 = 0
    var database = OutageDatabase()
    var gateway = Gateway.well
    private(set) var children: [OutageChild] = []
    private(set) var seconds: [Second] = []
    /// The times of requests while the gateway was out.
    private(set) var requestTimes: [Int64] = []
    private(set) var takes: [Int32: Int] = [:]
    private(set) var failures: [String] = []
    var entered = 0
    private let bulk: CompiledDelivery
    let single: CompiledDelivery
    private var isSupplying = true
    private var nextSupervision: Int64 = 0
    private var starting: [(host: Int, at: Int64)] = []
    private var lastChild: Int64 = 0
    private static let validity: Int64 = 5 * 86_400_000

    init(seed: UInt64) throws {
        random = TestRandom(seed: seed)
        let end = DispatchFixture.start + Self.validity
        bulk = try DispatchFixture.delivery(maxRetries: 5, validUntilMilliseconds: end)
        single = try DispatchFixture.delivery(
            id: 32,
            maxRetries: 5,
            schedule: .exponential,
            validUntilMilliseconds: end
        )
    }

    /// Milliseconds since 1970 on the database's clock.
    var now: Int64 { DispatchFixture.start + time + clockError }

    var senders: Int { children.count { $0.role != .leaving } }

    func fail(_ what: String) { failures.append("at \(time) ms: \(what)") }

    func stepClock(_ milliseconds: Int64) {
        clockError += milliseconds
        database.now = now
    }

    func count(_ what: WritableKeyPath<Second, Int>) {
        let second = Int(time / 1_000)
        while seconds.count <= second { seconds.append(Second()) }
        seconds[second][keyPath: what] += 1
    }

    func accepted(_ sequence: Int32) {
        takes[sequence, default: 0] += 1
        count(\.accepted)
    }

    func reply(_ index: Int32) -> (outcome: Outcome, milliseconds: Int64) {
        count(\.requests)
        let success = Outcome(index: index, outcomeClass: .accepted, status: 200)
        switch gateway {
        case .well, .refused: return (success, Self.latency)
        case .silent:
            requestTimes.append(time)
            return (Outcome(index: index, outcomeClass: .ambiguous, reason: AnswerTable.timeout), Self.timeout)
        case .answers(let answer, let share):
            requestTimes.append(time)
            let isRefused = share >= 1 || Double.random(in: 0..<1, using: &random) < share
            return isRefused ? (answer.outcome(index), Self.refusalLatency) : (success, Self.latency)
        }
    }

    /// Changes the gateway's state.
    func become(_ gateway: Gateway) {
        self.gateway = gateway
        if gateway.isRefused { for child in children { child.disconnect() } }
    }

    func killProber() {
        for child in children where child.role == .probing { child.kill() }
        children.removeAll(where: \.isGone)
    }

    /// Stops adding messages, so that the rest completes.
    func endSupply() { isSupplying = false }

    /// Advances the time.
    func run(until end: Int64) {
        while time < end {
            database.now = now
            supervise()
            for child in children { child.step() }
            children.removeAll(where: \.isGone)
            let next = children.map(\.nextEvent).min() ?? .max
            time = min(max(time + 1, min(next, nextSupervision)), end)
        }
        database.now = now
    }

    /// The supervisor's work, each second.
    private func supervise() {
        for start in starting where start.at <= time { begin(start.host) }
        starting.removeAll { $0.at <= time }
        guard time >= nextSupervision else { return }
        nextSupervision = time + 1_000
        database.fixClockStep()
        if isSupplying {
            let ready = database.parts.values.count { $0.owner == nil && $0.delivery.id == bulk.id }
            for _ in 0..<max(0, Self.backlog - ready) { database.add(Self.partSize, group: "bulk", of: bulk) }
        }
        let isOffered = database.trouble.isTrouble ? database.isProbeDue : true
        guard isOffered, !database.ready.isEmpty else { return }
        for host in 0..<Self.hosts
        where !children.contains(where: { $0.host == host && $0.role != .leaving })
            && !starting.contains(where: { $0.host == host })
        {
            starting.append((host, time + 300))
        }
    }

    private func begin(_ host: Int) {
        lastChild += 1
        let isProber = database.trouble.isTrouble
        if isProber, !database.claimProber(lastChild) { return }
        children.append(OutageChild(lastChild, host: host, world: self, isProber: isProber))
        if gateway.isRefused { children.last?.disconnect() }
    }
}
