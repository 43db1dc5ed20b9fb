import HTTP2
import NIOCore
import PushCore
import TestSupport

@testable import Gateways
@testable import MTAChild
@testable import Store

/// A child in a simulated outage: a real dispatch state, and simulated sender, claimer, watcher, prober and gateway.
final class OutageChild {
    enum Role {
        case sending, probing, leaving
    }

    /// A request that waits for its answer.
    struct Request {
        let batch: Int64
        let outcome: Outcome
        let answeredAt: Int64
    }

    let id: Int64
    let host: Int
    private(set) var dispatch: DispatchState
    private(set) var role: Role
    private(set) var isGone = false
    private unowned let world: OutageWorld
    private let startedAt: Int64
    private var marks: [[PartMark]] = []
    private var releases: [PartToken] = []
    private var returning: [(batch: Int64, index: Int32)] = []
    private var queue: [(batch: GatewayRequestBatch, index: Int32)] = []
    private var wire: [Request] = []
    private var resends: [(batch: Int64, at: Int64)] = []
    private var stores: [(batch: OutcomeBatch, windowRows: Int)] = []
    private var sequences: [Int64: [Int32]] = [:]
    private var isConnected = true
    private var pacing = DialPacing(firstMilliseconds: 1_000, maxMilliseconds: 5_000)
    private var nextLook: Int64 = 0
    private var nextFastShutdown: Int64 = 0
    private var prober: Prober

    init(_ id: Int64, host: Int, world: OutageWorld, isProber: Bool) {
        self.id = id
        self.host = host
        self.world = world
        startedAt = world.time
        role = isProber ? .probing : .sending
        prober = Prober(at: .zero, random: TestRandom(seed: world.random.next()))
        dispatch = DispatchState(
            window: DispatchWindow(size: 4_000, maxBytes: .max),
            batchSize: 1_000,
            applicationID: 1
        )
        if isProber { dispatch.admission.becomeProber() }
    }

    /// Now, on the child's monotonic clock.
    private var moment: Duration { .milliseconds(world.time - startedAt) }

    /// The moment of the next action.
    var nextEvent: Int64 {
        let soon = !marks.isEmpty || !releases.isEmpty || !returning.isEmpty || !stores.isEmpty
        if soon || role != .probing { return world.time + OutageWorld.tick }
        var next = nextLook
        for request in wire { next = min(next, request.answeredAt) }
        for resend in resends { next = min(next, resend.at) }
        if !queue.isEmpty { next = min(next, world.time + OutageWorld.tick) }
        if prober.state == .probing, wire.isEmpty { next = min(next, world.time + OutageWorld.tick) }
        let look = startedAt + prober.nextLook(dispatch.probe(at: moment)).milliseconds
        return min(next, max(look, world.time + OutageWorld.tick))
    }

    /// Performs the actions that are due.
    func step() {
        for part in releases { perform(.released(part)) }
        releases = []
        look()
        switch role {
        case .sending: claim()
        case .probing: probe()
        case .leaving where world.time >= nextFastShutdown:
            nextFastShutdown = world.time + 1_000
            perform(.fastShutdown)
        case .leaving: break
        }
        mark()
        dial()
        depart()
        answer()
        giveBack()
        for resend in resends where resend.at <= world.time { perform(.resendDue(batchID: resend.batch)) }
        resends.removeAll { $0.at <= world.time }
        store()
        if role == .leaving, dispatch.isEmpty, dispatch.endings.releasing.isEmpty, releases.isEmpty { isGone = true }
    }

    /// kill -9: its supervisor reads the journal and gives its parts back.
    func kill() {
        isGone = true
        for part in world.database.parts.values where part.owner == id {
            let unanswered = wire.compactMap { sequences[$0.batch]?[Int($0.outcome.index)] }
            let own = unanswered.filter(Set(part.sequences).contains)
            world.database.release(PartToken(part: part.id, token: part.token), PartRecovery(ambiguous: own))
        }
    }

    private func perform(_ event: DispatchState.Event) {
        dispatch.advance(to: moment)
        for action in dispatch.handle(event, now: world.now) { carryOut(action) }
        if let taken = dispatch.outbox.take() { stores.append((taken.batch, taken.windowRows)) }
    }

    private func carryOut(_ action: DispatchState.Action) {
        switch action {
        case .mark(let asked): marks.append(asked)
        case .submit(let batch): submit(batch)
        case .resendLater(let batch, _): resends.append((batch, world.time + 20))
        case .release(let part, let recovery), .putAside(let part, let recovery, _): release(part, recovery)
        case .postpone(let part, _): release(part, PartRecovery())
        case .cancelQueued:
            returning += queue.map { ($0.batch.id, $0.index) }
            queue = []
        case .enterTrouble(_, let notBefore):
            role = .leaving
            world.entered += 1
            let pause = ProbePace.pause(notBefore: notBefore ?? .zero, using: &world.random)
            world.database.enterTrouble(nextProbeIn: pause, keepsProber: notBefore == nil)
        case .troubleOver:
            role = .sending
            world.database.endTrouble()
        case .openCircuit(let reason, _): world.fail("the circuit opens: \(reason)")
        case .holdDelivery(_, let reason): world.fail("a delivery is held: \(reason)")
        case .credentialRefused(let reason), .credentialWorks(let reason): world.fail("a credential: \(reason)")
        case .journal, .store, .claimMore, .tellLost, .closeCircuit, .cutJournal, .lookAgain, .askForSlices, .cutRate:
            break
        }
    }

    private func release(_ part: PartToken, _ recovery: PartRecovery) {
        world.database.release(part, recovery)
        releases.append(part)
    }

    // MARK: The database

    private func look() {
        guard world.time >= nextLook else { return }
        nextLook = world.time + (role == .probing ? 1_000 : 250)
        perform(.deliveryStates([:]))
        guard role == .sending, dispatch.admission.trouble == .none else { return }
        perform(.troubleSeen(world.database.troubleSeen(sharers: world.senders)))
        if dispatch.admission.trouble == .left { role = .leaving }
    }

    private func claim() {
        guard dispatch.admission.trouble == .none, !world.database.trouble.isTrouble else { return }
        let room = 2_000 - dispatch.waitingMessages
        guard room > 0 else { return }
        for part in world.database.ready.prefix(4) {
            if let prepared = world.database.claim(part, by: id) { perform(.prepared(prepared)) }
        }
    }

    private func mark() {
        let asked = marks
        marks = []
        for mark in asked { perform(.marked(mark, held: Set(mark.map(\.claim.part)))) }
    }

    private func store() {
        let batches = stores
        stores = []
        for (batch, windowRows) in batches {
            let report = world.database.store(batch)
            perform(.stored(report, claims: batch.claims, windowRows: windowRows))
        }
    }

    // MARK: Probes

    private func probe() {
        var events: [Prober.Event] = [.looked]
        while !events.isEmpty, role == .probing {
            for action in prober.handle(events.removeFirst(), dispatch.probe(at: moment), at: moment) {
                switch action {
                case .ping: events.append(.pinged(true))
                case .claim: events.append(.claimed(claimProbe()))
                case .allow: perform(.probe)
                case .tell where !world.database.renewProber(id):
                    role = .leaving
                    perform(.fastShutdown)
                case .tell: break
                case .giveBack: perform(.probeFailed)
                case .leave:
                    world.database.leaveTrouble(id)
                    role = .leaving
                    perform(.fastShutdown)
                }
            }
        }
    }

    /// - Returns: false if there is nothing to probe with.
    private func claimProbe() -> Bool {
        guard let part = world.database.claimProbe(by: id) else { return false }
        perform(.prepared(part))
        return true
    }

    // MARK: The gateway

    private func submit(_ batch: GatewayRequestBatch) {
        guard let flight = dispatch.flights[batch.id], let part = dispatch.parts[flight.claim] else {
            return world.fail("a batch without a flight")
        }
        sequences[batch.id] = flight.rows.map { part.sequences[Int($0)] }
        queue += (0..<Int32(batch.count)).map { (batch, $0) }
    }

    /// The gateway's connections are lost.
    func disconnect() {
        guard isConnected else { return }
        isConnected = false
        let lost = wire
        wire = []
        resolve(
            lost.map {
                Request(
                    batch: $0.batch,
                    outcome: Outcome(index: $0.outcome.index, outcomeClass: .ambiguous, reason: "ConnectionLost"),
                    answeredAt: world.time
                )
            }
        )
        perform(.gatewayFailed("ConnectionLost"))
    }

    private func dial() {
        let moment = NIODeadline.uptimeNanoseconds(UInt64(world.time + 1_000_000) * 1_000_000)
        guard !isConnected, pacing.dials(wanted: 1, proven: 0, unproven: 0, at: moment) > 0 else { return }
        world.count(\.dials)
        if world.gateway.isRefused {
            if pacing.failed(at: moment, using: &world.random) != nil { perform(.gatewayFailed("refused")) }
        } else {
            isConnected = true
            pacing.answered()
        }
    }

    private func depart() {
        guard isConnected else { return }
        while let first = queue.first, wire.count < OutageWorld.streams {
            let room = OutageWorld.streams - wire.count
            let indexes = queue.prefix(room).prefix { $0.batch.id == first.batch.id }.map(\.index)
            let departure = GatewayDeparture(batch: first.batch, ranges: indexes.map { $0..<$0 + 1 })
            guard dispatch.aboutToSend([departure], now: world.now, isLeaseValid: { true }) != nil else {
                returning += queue.map { ($0.batch.id, $0.index) }
                queue = []
                return
            }
            queue.removeFirst(indexes.count)
            for index in indexes { request(first.batch.id, index) }
        }
    }

    private func request(_ batch: Int64, _ index: Int32) {
        let reply = world.reply(index)
        if reply.outcome.outcomeClass == .accepted, let sequence = sequences[batch]?[Int(index)] {
            world.accepted(sequence)
        }
        wire.append(Request(batch: batch, outcome: reply.outcome, answeredAt: world.time + reply.milliseconds))
    }

    private func answer() {
        let answered = wire.filter { $0.answeredAt <= world.time }
        guard !answered.isEmpty else { return }
        wire.removeAll { $0.answeredAt <= world.time }
        resolve(answered)
    }

    private func resolve(_ requests: [Request]) {
        var batches: [Int64] = []
        for request in requests where batches.last != request.batch { batches.append(request.batch) }
        for batch in batches {
            let outcomes = requests.filter { $0.batch == batch }.map(\.outcome)
            perform(.resolved(batchID: batch, outcomes: outcomes))
        }
    }

    private func giveBack() {
        let unsent = returning
        returning = []
        var outcomes: [Int64: [Outcome]] = [:]
        for (batch, index) in unsent {
            outcomes[batch, default: []].append(Outcome(index: index, outcomeClass: .unprocessed, neverLeft: true))
        }
        for batch in outcomes.keys.sorted() {
            perform(.resolved(batchID: batch, outcomes: outcomes[batch] ?? []))
        }
    }
}
