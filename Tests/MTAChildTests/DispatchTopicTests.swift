import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// Deliveries whose push type has its own topic and push tokens: a fault of one does not affect others.
@Suite struct DispatchTopicTests {
    private let now = DispatchFixture.start

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(size: 4_000, maxBytes: .max), batchSize: 1_000, applicationID: 1)
    }

    @discardableResult
    private func send(_ dispatch: inout DispatchState, _ part: PreparedPart) -> [DispatchState.Action] {
        var actions = dispatch.handle(.prepared(part), now: now)
        var place = 0
        // Each slice of the part is marked when the previous one is on its way.
        while place < actions.count {
            if case .mark(let marks) = actions[place] {
                actions += dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
            }
            place += 1
        }
        return actions
    }

    private func disallowed(_ index: Int32) -> Outcome {
        Outcome(
            index: index,
            outcomeClass: .stopDelivery,
            status: 400,
            reason: "TopicDisallowed",
            failure: .softRefused
        )
    }

    private func otherKind(_ index: Int32) -> Outcome {
        Outcome(
            index: index,
            outcomeClass: .permanent,
            status: 400,
            reason: "DeviceTokenNotForTopic",
            isTokenDoubtful: true,
            failure: .softRefused
        )
    }

    private func accepted(_ index: Int32) -> Outcome { Outcome(index: index, outcomeClass: .accepted, status: 200) }

    private func holds(_ actions: [DispatchState.Action]) -> [(Int64, String)] {
        actions.compactMap { if case .holdDelivery(let id, let reason) = $0 { (id, reason) } else { nil } }
    }

    private func opensCircuit(_ actions: [DispatchState.Action]) -> Bool {
        actions.contains { if case .openCircuit = $0 { true } else { false } }
    }

    private func releases(_ actions: [DispatchState.Action]) -> [PartToken] {
        actions.compactMap { if case .release(let part, _) = $0 { part } else { nil } }
    }

    @Test func aTopicThatIsNotAllowedHoldsItsDeliveryOnly() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 3, type: .voip, delivery: try DispatchFixture.delivery(id: 16)))
        send(&dispatch, DispatchFixture.part(2, size: 2, delivery: try DispatchFixture.delivery(id: 32)))
        var actions = dispatch.handle(.resolved(batchID: 100, outcomes: [disallowed(0)]), now: now)
        actions += dispatch.handle(.resolved(batchID: 100, outcomes: [disallowed(1), disallowed(2)]), now: now)
        let held = holds(actions)
        #expect(held.map(\.0) == [16], "once")
        #expect(held.first?.1.contains("400 TopicDisallowed to push type voip") == true, "\(held)")
        #expect(!opensCircuit(actions) && dispatch.admission.circuit == .closed)
        #expect(releases(actions).map(\.part) == [1], "it went back undecided")
        #expect(dispatch.counters.counts.failed == 0 && dispatch.outbox.outcomes.isEmpty)
        // The database does not know it yet; the other delivery is not affected.
        _ = dispatch.handle(.deliveryStates([16: .inProgress, 32: .inProgress]), now: now)
        _ = dispatch.handle(.resolved(batchID: 200, outcomes: [accepted(0), accepted(1)]), now: now)
        #expect(dispatch.counters.counts.sent == 2)
        #expect(dispatch.window.unresolved == dispatch.outbox.windowRows)
    }

    @Test func theReasonComesFromTheRowsOfItsGateway() throws {
        let own = AnswerGateway(rawValue: "own")
        let row = AnswerRow(own, 400, "TopicDisallowed", .stopDelivery, failure: .softRefused, "ask the operator")
        var dispatch = dispatch()
        dispatch.gatewayAnswers = GatewayAnswers(own, [row])
        send(&dispatch, DispatchFixture.part(1, size: 1, type: .voip, delivery: try DispatchFixture.delivery()))
        let held = holds(dispatch.handle(.resolved(batchID: 100, outcomes: [disallowed(0)]), now: now))
        #expect(
            held.map(\.1) == ["The gateway answers 400 TopicDisallowed to push type voip: ask the operator."]
        )
    }

    @Test func whatIsHeldDoesNotLeaveUntilTheDatabaseKnows() throws {
        var dispatch = dispatch()
        var part = DispatchFixture.part(1, size: 4, slice: 2, type: .location, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(1, size: 4)
        send(&dispatch, part)
        let actions = dispatch.handle(.resolved(batchID: 100, outcomes: [disallowed(0)]), now: now)
        #expect(holds(actions).count == 1)
        #expect(actions.contains { if case .cancelQueued = $0 { true } else { false } })
        let flight = try #require(dispatch.flights[101])
        let departure = GatewayDeparture(batch: flight.batch, ranges: [0..<2])
        _ = dispatch.handle(.deliveryStates([16: .inProgress]), now: now)
        #expect(dispatch.aboutToSend([departure], now: now, isLeaseValid: { true }) == nil)
        // It was paused, and an operator resumes it before the last answer is in.
        _ = dispatch.handle(.deliveryStates([16: .paused]), now: now)
        _ = dispatch.handle(.deliveryStates([16: .inProgress]), now: now)
        #expect(dispatch.aboutToSend([departure], now: now, isLeaseValid: { true }) != nil)
    }

    @Test func aDeliveryOfWhichNoTokenIsOfTheRightKindIsHeld() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 600, type: .voip, delivery: try DispatchFixture.delivery()))
        var actions: [DispatchState.Action] = []
        for index in 0..<Int32(600) where holds(actions).isEmpty {
            actions += dispatch.handle(.resolved(batchID: 100, outcomes: [otherKind(index)]), now: now)
        }
        #expect(holds(actions).first?.1.contains("needs its own push tokens") == true)
        #expect(holds(actions).first?.1.contains("all 500 messages") == true)
        #expect(!opensCircuit(actions) && dispatch.counters.counts.failed == 0 && dispatch.outbox.outcomes.isEmpty)
        let rest = (500..<Int32(600)).map { Outcome(index: $0, outcomeClass: .unprocessed, neverLeft: true) }
        let end = dispatch.handle(.resolved(batchID: 100, outcomes: rest), now: now)
        #expect(releases(end).count == 1 && dispatch.isEmpty && dispatch.window.unresolved == 0)
    }

    @Test(arguments: [(10, false), (11, true)]) func aFewAreDecidedWhenNothingMoreComes(_ count: Int, _ isHeld: Bool)
        throws
    {
        var dispatch = dispatch()
        send(
            &dispatch,
            DispatchFixture.part(1, size: count, type: .liveactivity, delivery: try DispatchFixture.delivery())
        )
        // Other deliveries keep the child busy: a delivery is quiet when nothing of its own is on the wire.
        send(&dispatch, DispatchFixture.part(2, size: 1, delivery: try DispatchFixture.delivery(id: 32)))
        var actions: [DispatchState.Action] = []
        for index in 0..<Int32(count) {
            actions += dispatch.handle(.resolved(batchID: 100, outcomes: [otherKind(index)]), now: now)
        }
        #expect(holds(actions).count == (isHeld ? 1 : 0))
        #expect(dispatch.counters.counts.failed == (isHeld ? 0 : Int64(count)))
        guard !isHeld else { return }
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        #expect(batch.count == count && batch.effects.isEmpty, "no token is touched")
    }

    @Test func oneThatGotThroughIsEnoughToBelieveTheOthers() throws {
        var dispatch = dispatch()
        send(&dispatch, DispatchFixture.part(1, size: 700, type: .voip, delivery: try DispatchFixture.delivery()))
        var actions: [DispatchState.Action] = []
        for index in 0..<Int32(700) {
            let outcome = index == 300 ? accepted(index) : otherKind(index)
            actions += dispatch.handle(.resolved(batchID: 100, outcomes: [outcome]), now: now)
        }
        #expect(holds(actions).isEmpty && !opensCircuit(actions))
        #expect(dispatch.counters.counts.failed == 699 && dispatch.counters.counts.sent == 1)
    }

    /// A part of a push type with its own topic, in an application some of whose tokens have worked; the first rows
    /// have such tokens.
    private func part(
        _ id: Int64,
        size: Int,
        proven: Int,
        isProbe: Bool = false,
        isAlone: Bool = false,
        othersPass: Bool = false
    )
        throws -> PreparedPart
    {
        var part = DispatchFixture.part(id, size: size, type: .voip, delivery: try DispatchFixture.delivery())
        part.claimed = DispatchFixture.claimed(
            id,
            size: size,
            isProbe: isProbe,
            isApplicationProven: true,
            isAlone: isAlone,
            othersPass: othersPass
        )
        part.accepted = (0..<size).map { $0 < proven }
        return part
    }

    private func answer(
        _ dispatch: inout DispatchState,
        _ id: Int64,
        _ rows: Range<Int32>,
        _ outcome: (Int32) -> Outcome
    )
        -> [DispatchState.Action]
    {
        rows.flatMap { dispatch.handle(.resolved(batchID: id * 100, outcomes: [outcome($0)]), now: now) }
    }

    private func putAside(_ actions: [DispatchState.Action]) -> [Int64] {
        actions.compactMap { if case .putAside(let part, _, _?) = $0 { part.part } else { nil } }
    }

    /// Anyone with the app's binary can register alert tokens, or nonsense, by the thousand.
    @Test func strangersTokensPauseNoDelivery() throws {
        var dispatch = dispatch()
        send(&dispatch, try part(1, size: 900, proven: 0))
        send(&dispatch, try part(2, size: 20, proven: 20))
        var actions = answer(&dispatch, 1, 0..<499, otherKind)
        #expect(
            holds(actions).isEmpty && dispatch.counters.counts.failed == 0,
            "it is not known yet that others get through"
        )
        actions += answer(&dispatch, 1, 499..<900, otherKind)
        #expect(holds(actions).isEmpty && !opensCircuit(actions) && dispatch.counters.counts.failed == 0)
        #expect(putAside(actions) == [1], "they wait for others of their delivery")
        actions += answer(&dispatch, 2, 0..<20, accepted)
        #expect(dispatch.counters.counts.sent == 20 && holds(actions).isEmpty)
        // When they are claimed again, others have passed.
        var next = self.dispatch()
        send(&next, try part(3, size: 900, proven: 0, isAlone: true, othersPass: true))
        #expect(holds(answer(&next, 3, 0..<900, otherKind)).isEmpty && next.counters.counts.failed == 900)
    }

    @Test func amongTokensThatPassTheyFail() throws {
        var dispatch = dispatch()
        send(&dispatch, try part(1, size: 700, proven: 100))
        var actions = answer(&dispatch, 1, 100..<400, otherKind)
        actions += answer(&dispatch, 1, 0..<100, accepted)
        actions += answer(&dispatch, 1, 400..<700, otherKind)
        #expect(holds(actions).isEmpty && putAside(actions).isEmpty)
        #expect(dispatch.counters.counts.failed == 600 && dispatch.counters.counts.sent == 100)
    }

    @Test(arguments: [10, 11, 80]) func aFewOfThemFailAndMoreArePutAsideWhenNothingMoreComes(_ count: Int) throws {
        var dispatch = dispatch()
        send(&dispatch, try part(1, size: count, proven: 0))
        let actions = answer(&dispatch, 1, 0..<Int32(count), otherKind)
        #expect(holds(actions).isEmpty)
        #expect(dispatch.counters.counts.failed == (count <= 10 ? Int64(count) : 0))
        #expect(putAside(actions) == (count <= 10 ? [] : [1]))
    }

    @Test func tokensThatWorkedStillSayThatTheDeliveryIsWrong() throws {
        var dispatch = dispatch()
        send(&dispatch, try part(1, size: 1_200, proven: 600))
        var actions: [DispatchState.Action] = []
        for index in 0..<Int32(600) where holds(actions).isEmpty {
            actions += answer(&dispatch, 1, 600 + index % 300..<601 + index % 300, otherKind)
            actions += answer(&dispatch, 1, index..<index + 1, otherKind)
        }
        #expect(holds(actions).first?.1.contains("needs its own push tokens") == true)
        #expect(dispatch.counters.counts.failed == 0)
    }

    @Test func aProbeOfThemPausesNoDelivery() throws {
        var dispatch = dispatch()
        var actions = dispatch.handle(.prepared(try part(1, size: 50, proven: 0, isProbe: true)), now: now)
        var all = actions
        var sent = 0
        while let marks = actions.compactMap({ if case .mark(let marks) = $0 { marks } else { nil } }).first, sent < 60
        {
            sent += 1
            actions = dispatch.handle(.marked(marks, held: [1]), now: now)
            let batches = actions.compactMap { if case .submit(let batch) = $0 { batch } else { nil } }
            actions = dispatch.handle(
                .resolved(batchID: try #require(batches.first).id, outcomes: [otherKind(0)]),
                now: now
            )
            all += actions
        }
        #expect(sent == MassFailureGuard.probeLimit && holds(all).isEmpty && putAside(all) == [1])
        #expect(dispatch.isEmpty && dispatch.counters.counts.failed == 0)
    }

    @Test func aProbeThatMeetsThemProvesNothing() throws {
        for (size, answer) in [(50, 0), (50, 1), (3, 1)] {
            var dispatch = dispatch()
            var part = DispatchFixture.part(1, size: size, type: .voip, delivery: try DispatchFixture.delivery())
            part.claimed = DispatchFixture.claimed(1, size: size, isProbe: true)
            send(&dispatch, part)
            var all: [DispatchState.Action] = []
            var tries = 0
            while let batch = dispatch.flights.all.first?.batch.id, tries < 60 {
                tries += 1
                let outcome = answer == 0 ? disallowed(0) : otherKind(0)
                let actions = dispatch.handle(.resolved(batchID: batch, outcomes: [outcome]), now: now)
                all += actions
                for case .mark(let marks) in actions {
                    all += dispatch.handle(.marked(marks, held: [1]), now: now)
                }
            }
            #expect(tries == (answer == 0 ? 1 : min(size, 10)))
            #expect(holds(all).count == (size == 3 ? 0 : 1), "\(size) \(answer)")
            #expect(releases(all).count == 1 && dispatch.isEmpty && dispatch.counters.counts.failed == 0)
            #expect(!opensCircuit(all), "its reason stands, and the next probe is another delivery's")
            #expect(!all.contains { if case .closeCircuit = $0 { true } else { false } })
        }
    }
}
