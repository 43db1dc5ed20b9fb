import PushCore
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// Tokens registered by strangers: they are refused, and stop nothing.
@Suite struct DispatchStrangersTests {
    private let now = DispatchFixture.start

    private func dispatch() -> DispatchState {
        DispatchState(window: DispatchWindow(size: 8_000, maxBytes: .max), batchSize: 4_000, applicationID: 1)
    }

    private func refused(_ index: Int32) -> Outcome {
        Outcome(
            index: index,
            outcomeClass: .permanent,
            status: 400,
            reason: "BadDeviceToken",
            tokenEffect: .invalid(sinceMilliseconds: nil),
            isTokenDoubtful: true
        )
    }

    /// A part of an application; its first rows have tokens that have worked.
    private func part(
        _ id: Int64,
        size: Int,
        proven: Int = 0,
        isApplicationProven: Bool = true,
        isAlone: Bool = false,
        othersPass: Bool = false,
        isProbe: Bool = false,
        user: Int32 = 0,
        delivery: Int64 = 16
    ) throws -> PreparedPart {
        var part = DispatchFixture.part(id, size: size, delivery: try DispatchFixture.delivery(id: delivery))
        part.claimed = DispatchFixture.claimed(
            id,
            size: size,
            delivery: delivery,
            isProbe: isProbe,
            isApplicationProven: isApplicationProven,
            isAlone: isAlone,
            othersPass: othersPass
        )
        part.accepted = (0..<size).map { $0 < proven }
        part.userHashes = Array(repeating: user, count: size)
        return part
    }

    private func start(_ dispatch: inout DispatchState, _ part: PreparedPart) {
        for case .mark(let marks) in dispatch.handle(.prepared(part), now: now) {
            _ = dispatch.handle(.marked(marks, held: Set(marks.map(\.claim.part))), now: now)
        }
    }

    private func answer(_ dispatch: inout DispatchState, _ id: Int64, _ rows: Range<Int>, isRefused: Bool)
        -> [DispatchState.Action]
    {
        rows.map(Int32.init).flatMap { row in
            let outcome = isRefused ? refused(row) : Outcome(index: row, outcomeClass: .accepted, status: 200)
            return dispatch.handle(.resolved(batchID: id * 100, outcomes: [outcome]), now: now)
        }
    }

    private func opens(_ actions: [DispatchState.Action]) -> Bool {
        actions.contains { if case .openCircuit = $0 { true } else { false } }
    }

    /// Parts that were put aside, with their reasons.
    private func putAside(_ actions: [DispatchState.Action]) -> [(part: Int64, reason: String?)] {
        actions.compactMap { if case .putAside(let part, _, let reason) = $0 { (part.part, reason) } else { nil } }
    }

    @Test func falseTokensAmongRealOnesFailAndOpenNoCircuit() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 1_000, proven: 600))
        var actions = answer(&dispatch, 1, 600..<1_000, isRefused: true)
        #expect(!opens(actions) && dispatch.counters.counts.failed == 0, "it is not known yet that others get through")
        actions += answer(&dispatch, 1, 0..<600, isRefused: false)
        #expect(!opens(actions) && putAside(actions).isEmpty)
        #expect(dispatch.counters.counts.failed == 400 && dispatch.counters.counts.sent == 600)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        #expect(batch.effects.count == 400 && batch.effects.allSatisfy { $0.kind == .softError })
        #expect(batch.acceptances.isEmpty, "nothing is written for tokens that have worked before")
        #expect(batch.closing.count == 1)
    }

    @Test(arguments: [11, 80, 500]) func provenTokensOpenIt(_ count: Int) throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 1_000, proven: count))
        let actions =
            answer(&dispatch, 1, 0..<count, isRefused: true) + answer(&dispatch, 1, count..<1_000, isRefused: true)
        #expect(opens(actions))
        #expect(dispatch.counters.counts.failed == 0)
        #expect(putAside(actions).map(\.part) == [1], "it goes alone next time")
        #expect(putAside(actions).allSatisfy { $0.reason == nil })
    }

    @Test func whereNothingEverWorkedAllCount() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 80, isApplicationProven: false))
        #expect(opens(answer(&dispatch, 1, 0..<80, isRefused: true)))
        #expect(dispatch.counters.counts.failed == 0)
    }

    @Test func theFirstMessagesThatAreTakenAreNoted() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 20, proven: 15))
        _ = answer(&dispatch, 1, 0..<20, isRefused: false)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        #expect(batch.acceptances == [1: (15..<20).map { Int64(1_010_000 + $0) }])
    }

    @Test func aUserCountsOnceForADelivery() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 300, isApplicationProven: false, user: 7))
        let actions = answer(&dispatch, 1, 0..<300, isRefused: true)
        #expect(!opens(actions))
        #expect(dispatch.counters.counts.failed == 0 && putAside(actions).map(\.part) == [1])
        var other = self.dispatch()
        var opened: [DispatchState.Action] = []
        for id in 1...11 {
            let own = try part(Int64(id), size: 1, isApplicationProven: false, user: 7, delivery: Int64(16 * id))
            start(&other, own)
            opened += answer(&other, Int64(id), 0..<1, isRefused: true)
        }
        #expect(opens(opened), "of another delivery it is another answer")
    }

    @Test func aPartOfWhichNothingGetsThroughIsPutAsideAndOthersGoOn() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 600))
        start(&dispatch, try part(2, size: 10, proven: 10))
        var actions = answer(&dispatch, 1, 0..<600, isRefused: true)
        #expect(putAside(actions).map(\.part) == [1])
        #expect(putAside(actions).allSatisfy { $0.reason?.contains("push tokens") == true })
        #expect(!opens(actions) && dispatch.counters.counts.failed == 0)
        actions += answer(&dispatch, 2, 0..<10, isRefused: false)
        #expect(dispatch.counters.counts.sent == 10 && !opens(actions))
    }

    @Test func oncePutAsideItFailsWhenOthersPassAndWaitsAgainWhenNot() throws {
        for othersPass in [true, false] {
            var dispatch = dispatch()
            start(&dispatch, try part(1, size: 60, isAlone: true, othersPass: othersPass))
            let actions = answer(&dispatch, 1, 0..<60, isRefused: true)
            #expect(!opens(actions))
            #expect(dispatch.counters.counts.failed == (othersPass ? 60 : 0))
            #expect(putAside(actions).count == (othersPass ? 0 : 1))
        }
    }

    /// What it waits for is true of tokens that have worked before, too.
    @Test func tokensThatHaveWorkedAreNotCalledNew() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 60, proven: 60, isAlone: true, othersPass: false))
        let waiting = putAside(answer(&dispatch, 1, 0..<60, isRefused: true))
        #expect(waiting.count == 1)
        #expect(waiting.allSatisfy { $0.reason?.contains("push tokens") == true })
        #expect(waiting.allSatisfy { $0.reason?.contains("ever worked") == false })
    }

    @Test func aPartThatOpenedTheCircuitDoesNotOpenItForOthersAgain() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 100, proven: 100, isAlone: true))
        start(&dispatch, try part(2, size: 100, proven: 100))
        let actions = answer(&dispatch, 1, 0..<100, isRefused: true) + answer(&dispatch, 2, 0..<100, isRefused: false)
        #expect(!opens(actions) && dispatch.counters.counts.failed == 100 && dispatch.counters.counts.sent == 100)
        let taken = dispatch.outbox.take()
        let (batch, _) = try #require(taken)
        #expect(batch.effects.allSatisfy { $0.kind == .softError })
    }

    @Test func singleMessagesToFalseTokensFailOrWaitAndOpenNoCircuit() throws {
        var dispatch = dispatch()
        var actions: [DispatchState.Action] = []
        for id in 1...300 {
            start(&dispatch, try part(Int64(id), size: 1))
            actions += answer(&dispatch, Int64(id), 0..<1, isRefused: true)
        }
        #expect(!opens(actions))
        #expect(dispatch.counters.counts.failed == MassFailureGuard.fewest)
        #expect(putAside(actions).count == 300 - MassFailureGuard.fewest)
    }

    @Test func falseTokensHideNoMixUp() throws {
        var dispatch = dispatch()
        start(&dispatch, try part(1, size: 1_000))
        start(&dispatch, try part(2, size: 1_000, proven: 1_000))
        var actions: [DispatchState.Action] = []
        // One in ten tokens has worked before; now all are refused.
        for row in 0..<100 {
            actions += answer(&dispatch, 2, row..<row + 1, isRefused: true)
            if !opens(actions) { actions += answer(&dispatch, 1, row * 9..<row * 9 + 9, isRefused: true) }
        }
        #expect(opens(actions) && dispatch.counters.counts.failed == 0)
    }

    @Test func aProbeProvesNothingByFalseTokens() throws {
        var dispatch = dispatch()
        let probe = try part(1, size: 10, isProbe: true)
        var actions = dispatch.handle(.prepared(probe), now: now)
        var sent = 0
        while let marks = actions.compactMap({ if case .mark(let marks) = $0 { marks } else { nil } }).first {
            sent += 1
            actions = dispatch.handle(.marked(marks, held: [1]), now: now)
            let batches = actions.compactMap { if case .submit(let batch) = $0 { batch } else { nil } }
            let batch = try #require(batches.first)
            #expect(batch.count == 1)
            actions = dispatch.handle(.resolved(batchID: batch.id, outcomes: [refused(0)]), now: now)
        }
        #expect(sent == MassFailureGuard.probeLimit)
        #expect(opens(actions) && dispatch.counters.counts.failed == 0)
    }
}
