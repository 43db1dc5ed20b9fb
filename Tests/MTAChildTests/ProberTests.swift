import TestSupport
import Testing

@testable import MTAChild

/// The prober's decisions on a manual clock.
@Suite struct ProberTests {
    private func view(
        isProber: Bool = true,
        mayProbe: Bool = false,
        isAwaited: Bool = false,
        hasNothing: Bool = true,
        isReleasing: Bool = false,
        deliveries: Set<Int64> = []
    ) -> ProbeView {
        ProbeView(
            isProber: isProber,
            mayProbe: mayProbe,
            isAwaited: isAwaited,
            awaitedUntil: nil,
            hasNothing: hasNothing,
            isReleasing: isReleasing,
            deliveries: deliveries,
            pauseAskedFor: nil,
            reason: "503"
        )
    }

    private func prober(at moment: Duration = .zero) -> Prober { Prober(at: moment, random: TestRandom(seed: 7)) }

    /// Advances the prober until its message is on the wire.
    private func sent(_ prober: inout Prober, at moment: Duration) {
        _ = prober.handle(.looked, view(), at: moment)
        _ = prober.handle(.pinged(true), view(), at: moment)
        _ = prober.handle(.claimed(true), view(hasNothing: false), at: moment)
    }

    @Test func aProbeIsAPingAPartAndAMessage() throws {
        var prober = prober()
        #expect(prober.handle(.looked, view(), at: .zero) == [.ping])
        #expect(prober.handle(.pinged(true), view(), at: .zero) == [.claim(except: [])])
        #expect(prober.handle(.claimed(true), view(hasNothing: false), at: .zero) == [.allow])
        #expect(prober.handle(.looked, view(mayProbe: true, hasNothing: false), at: .seconds(1)) == [])
        #expect(prober.handle(.looked, view(isAwaited: true), at: .seconds(2)) == [])
        let end = prober.handle(.looked, view(deliveries: [4]), at: .seconds(3))
        guard case .pausing(let until) = prober.state, case .tell("503", let pause?) = end.first else {
            Issue.record("\(prober.state) \(end)")
            return
        }
        #expect(end.last == .giveBack && until == .seconds(3) + pause)
        #expect((Duration.seconds(1)...Duration.seconds(5)).contains(pause))
        #expect(prober.handle(.looked, view(), at: until - .milliseconds(1)) == [])
        #expect(prober.handle(.looked, view(), at: until) == [.ping])
        // Another delivery goes first; if there is none, the same one again.
        #expect(prober.handle(.pinged(true), view(), at: until) == [.claim(except: [4])])
        #expect(prober.handle(.claimed(false), view(), at: until) == [.claim(except: [])])
        let nothing = prober.handle(.claimed(false), view(), at: until)
        #expect(nothing == [.tell(reason: nil, nextProbeIn: nil), .giveBack])
    }

    @Test func whatIsHeldIsProbedWithAndWhatGoesBackIsWaitedFor() {
        var first = prober()
        _ = first.handle(.looked, view(), at: .zero)
        #expect(first.handle(.pinged(true), view(hasNothing: false), at: .zero) == [.allow])
        var second = prober()
        _ = second.handle(.looked, view(), at: .zero)
        let waits = second.handle(.pinged(true), view(isReleasing: true), at: .zero)
        #expect(waits == [.tell(reason: nil, nextProbeIn: nil), .giveBack])
    }

    @Test func aConnectionThatDoesNotAnswerIsARefusal() {
        var prober = prober()
        _ = prober.handle(.looked, view(), at: .zero)
        guard case .tell(Prober.silentConnection, .some) = prober.handle(.pinged(false), view(), at: .zero).first else {
            Issue.record("\(prober.state)")
            return
        }
    }

    @Test func aDatabaseThatFailsIsAskedAgainWithTheNextProbe() {
        var prober = prober()
        sent(&prober, at: .zero)
        _ = prober.handle(.looked, view(deliveries: [4]), at: .seconds(1))
        guard case .pausing(let until) = prober.state else {
            Issue.record("\(prober.state)")
            return
        }
        _ = prober.handle(.looked, view(), at: until)
        #expect(prober.handle(.pinged(true), view(), at: until) == [.claim(except: [4])])
        #expect(prober.handle(.claimFailed, view(), at: until) == [.tell(reason: nil, nextProbeIn: nil), .giveBack])
    }

    @Test func whatHasExpiredUnsentIsReplaced() {
        var prober = prober()
        sent(&prober, at: .zero)
        // Many parts may have expired, so claims are spaced by a pause.
        #expect(prober.handle(.looked, view(mayProbe: true), at: .milliseconds(49)) == [])
        #expect(prober.nextLook(view(mayProbe: true)) == Prober.claimPause)
        #expect(prober.handle(.looked, view(mayProbe: true), at: Prober.claimPause) == [.claim(except: [])])
        #expect(prober.handle(.claimed(true), view(mayProbe: true, hasNothing: false), at: Prober.claimPause) == [])
        #expect(prober.state == .probing, "the permission is still there")
    }

    @Test func itSaysThatItLivesAndEndsWithTheTrouble() {
        var prober = prober()
        sent(&prober, at: .zero)
        let waiting = view(isAwaited: true)
        #expect(prober.nextLook(waiting) == Prober.heartbeat)
        #expect(prober.handle(.looked, waiting, at: Prober.heartbeat) == [.tell(reason: nil, nextProbeIn: nil)])
        #expect(prober.handle(.looked, waiting, at: Prober.heartbeat) == [])
        #expect(prober.handle(.looked, view(isProber: false), at: .seconds(6)) == [] && prober.state == .over)
    }

    @Test func itLeavesItsPlaceWhenItGoesOrHasNothingForLong() {
        var going = prober()
        sent(&going, at: .zero)
        #expect(going.handle(.drained, view(), at: .zero) == [.leave(isIdle: false)] && going.state == .leaving)
        var idle = prober()
        var moment = Duration.zero
        var actions: [Prober.Action] = []
        while idle.state != .leaving, moment < .seconds(100) {
            actions = idle.handle(.looked, view(), at: moment)
            if actions.contains(.ping) { _ = idle.handle(.pinged(true), view(), at: moment) }
            if case .claiming = idle.state { actions = idle.handle(.claimed(false), view(), at: moment) }
            moment += .milliseconds(100)
        }
        #expect(
            actions == [.leave(isIdle: true)] && moment > Prober.idleLimit && moment < Prober.idleLimit + .seconds(6)
        )
    }
}
