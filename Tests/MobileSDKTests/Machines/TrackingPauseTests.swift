import Testing

@testable import MobileSDK

/// What becomes of hits while a server is left alone.
@Suite struct TrackingPauseTests {
    private var machine = TrackingMachine(seed: 4)

    init() {
        _ = machine.handle(.trackingHost("trackserver"))
    }

    private mutating func track(_ path: String, call: UInt64) -> [TrackingMachine.Action] {
        machine.handle(.track(path: path, call: call))
    }

    private func send(_ attempt: UInt64, _ path: String) -> TrackingMachine.Action {
        .send(attempt: attempt, PushRequest(method: "GET", url: "https://trackserver" + path, headers: [:], body: nil))
    }

    private func timer(_ actions: [TrackingMachine.Action]) throws -> (number: UInt64, seconds: Double) {
        let timers: [(UInt64, Double)] = actions.compactMap {
            if case .startTimer(let number, let seconds) = $0 { (number, seconds) } else { nil }
        }
        let first = try #require(timers.first)
        return (first.0, first.1)
    }

    @Test mutating func newHitsAreOnlyQueuedAndCostNoTry() throws {
        _ = track("/first", call: 1)
        var actions = machine.handle(.answered(attempt: 1, .status(503, "busy")))
        for call in 2...UInt64(3 * TrackingMachine.maxRefusals) {
            let queued = track("/\(call)", call: call)
            #expect(queued.last == .report(.queued(reason: "busy"), calls: [call]))
            #expect(queued.count == 2, "stored and told, nothing else: \(queued)")
        }
        // Each try counts once, however many hits came meanwhile.
        for attempt in 2...UInt64(TrackingMachine.maxRefusals) {
            #expect(machine.handle(.timerFired(try timer(actions).number)) == [send(attempt, "/first")])
            actions = machine.handle(.answered(attempt: attempt, .status(503, "busy")))
        }
        let last = UInt64(TrackingMachine.maxRefusals) + 1
        #expect(machine.handle(.timerFired(try timer(actions).number)) == [send(last, "/2")])
    }

    @Test mutating func whatTheServerAsksForIsObeyed() throws {
        _ = track("/first", call: 1)
        let asked = try timer(machine.handle(.answered(attempt: 1, .status(429, retryAfter: "120"))))
        #expect(asked.seconds == 120)
        _ = track("/second", call: 2)
        #expect(machine.handle(.retryNow).isEmpty, "not before the server allows it")
        #expect(machine.handle(.timerFired(asked.number)) == [send(2, "/first")])
        #expect(machine.handle(.answered(attempt: 2, .ok)).contains(send(3, "/second")))
    }

    @Test mutating func aShortRequestOfTheServerDoesNotShortenTheBackOff() throws {
        _ = track("/first", call: 1)
        for attempt in 1...UInt64(5) {
            _ = machine.handle(.answered(attempt: attempt, .offline))
            #expect(machine.handle(.retryNow) == [send(attempt + 1, "/first")])
        }
        let asked = try timer(machine.handle(.answered(attempt: 6, .status(503, retryAfter: "1"))))
        #expect(asked.seconds == 1)
        let rest = try timer(machine.handle(.timerFired(asked.number)))
        #expect((79...159).contains(rest.seconds), "half to the whole of 5 s doubled five times, less the second")
        // From here on somebody may know better.
        #expect(machine.handle(.retryNow) == [send(7, "/first")])
        #expect(machine.handle(.timerFired(rest.number)).isEmpty)
    }

    @Test mutating func aPauseOutlivesTheHitThatItBeganWith() throws {
        _ = track("/only", call: 1)
        var pause: (number: UInt64, seconds: Double) = (0, 0)
        for attempt in 1...UInt64(TrackingMachine.maxRefusals) {
            let actions = machine.handle(.answered(attempt: attempt, .status(503, "busy", retryAfter: "9000")))
            pause = try timer(actions)
            if attempt == UInt64(TrackingMachine.maxRefusals) { break }
            #expect(machine.handle(.timerFired(pause.number)) == [send(attempt + 1, "/only")])
        }
        #expect(pause.seconds == 9000)
        #expect(track("/new", call: 2).last == .report(.queued(reason: "busy"), calls: [2]))
        let sent = send(UInt64(TrackingMachine.maxRefusals) + 1, "/new")
        #expect(machine.handle(.timerFired(pause.number)) == [sent])
    }

    @Test mutating func anEndedPauseWithoutHitsKeepsNothingBack() throws {
        _ = track("/only", call: 1)
        for attempt in 1...UInt64(TrackingMachine.maxRefusals) {
            let pause = try timer(machine.handle(.answered(attempt: attempt, .status(503, "busy"))))
            _ = machine.handle(.timerFired(pause.number))
        }
        #expect(track("/new", call: 2).contains(send(UInt64(TrackingMachine.maxRefusals) + 1, "/new")))
    }

    @Test mutating func anotherServerIsNotKeptWaiting() throws {
        _ = track("/first", call: 1)
        _ = machine.handle(.answered(attempt: 1, .status(503, "busy", retryAfter: "9000")))
        let actions = machine.handle(.trackingHost("other"))
        #expect(actions.count == 1)
        guard case .send(attempt: 2, let request) = actions.first else {
            Issue.record("nothing was sent: \(actions)")
            return
        }
        #expect(request.url == "https://other/first")
    }
}
