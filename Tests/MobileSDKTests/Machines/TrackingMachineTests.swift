import Testing

@testable import MobileSDK

@Suite struct TrackingMachineTests {
    private var machine = TrackingMachine(seed: 3)

    private static let busy = TransportResult.status(503, "busy")

    private mutating func track(_ path: String?, call: UInt64 = 1) -> [TrackingMachine.Action] {
        machine.handle(.track(path: path, call: call))
    }

    private func request(_ path: String) -> PushRequest {
        PushRequest(method: "GET", url: "https://trackserver" + path, headers: [:], body: nil)
    }

    private static func hits(_ paths: String...) -> TrackingMachine.Action {
        .store(paths.map { TrackingMachine.Hit(path: $0) })
    }

    @Test mutating func aHitIsStoredAndSent() {
        #expect(machine.handle(.trackingHost("trackserver")).isEmpty)
        let path = "/r/?id=hd828,deliveryId,2"
        #expect(track(path) == [Self.hits(path), .send(attempt: 1, request(path))])
        #expect(request(path).url == "https://trackserver/r/?id=hd828,deliveryId,2")
        #expect(machine.handle(.answered(attempt: 1, .ok)) == [Self.hits(), .report(.sent, calls: [1])])
    }

    @Test mutating func withoutServerOrIDsNothingIsSent() {
        #expect(track("/a") == [.report(.trackingHostEmpty, calls: [1])])
        _ = machine.handle(.trackingHost("trackserver"))
        #expect(track(nil) == [.report(.noIDs, calls: [1])])
    }

    @Test mutating func hitsGoInOrderOneAtATime() {
        _ = machine.handle(.trackingHost("trackserver"))
        _ = track("/a", call: 1)
        #expect(track("/b", call: 2) == [Self.hits("/a", "/b")])
        #expect(
            machine.handle(.answered(attempt: 1, .ok)) == [
                Self.hits("/b"), .report(.sent, calls: [1]), .send(attempt: 2, request("/b")),
            ]
        )
        #expect(machine.handle(.answered(attempt: 1, .ok)).isEmpty, "an answer counts once")
    }

    @Test mutating func offLineHitsAreKept() throws {
        _ = machine.handle(.trackingHost("trackserver"))
        _ = track("/a", call: 1)
        _ = track("/b", call: 2)
        let actions = machine.handle(.answered(attempt: 1, .offline))
        #expect(
            Array(actions.prefix(2)) == [Self.hits("/a", "/b"), .report(.queued(reason: "offline"), calls: [1, 2])]
        )
        guard case .startTimer(let timer, let seconds) = try #require(actions.last) else {
            Issue.record("no timer: \(actions)")
            return
        }
        #expect((2.5...5).contains(seconds))
        #expect(machine.handle(.timerFired(timer)) == [.send(attempt: 2, request("/a"))])
        #expect(machine.handle(.timerFired(timer)).isEmpty)
        #expect(machine.handle(.answered(attempt: 2, .ok)) == [Self.hits("/b"), .send(attempt: 3, request("/b"))])
    }

    @Test mutating func aTimerThatWasReplacedIsNothing() throws {
        _ = machine.handle(.trackingHost("trackserver"))
        _ = track("/a")
        let first = machine.handle(.answered(attempt: 1, .offline))
        guard case .startTimer(let timer, _) = try #require(first.last) else {
            Issue.record("no timer: \(first)")
            return
        }
        _ = machine.handle(.retryNow)
        _ = machine.handle(.answered(attempt: 2, .offline))
        #expect(machine.handle(.timerFired(timer)).isEmpty)
    }

    @Test mutating func keptHitsAreSentAfterARestart() {
        #expect(machine.handle(.started([.init(path: "/a")])).isEmpty)
        #expect(machine.handle(.trackingHost("trackserver")) == [.send(attempt: 1, request("/a"))])
    }

    @Test mutating func aRefusedHitIsDropped() {
        _ = machine.handle(.trackingHost("trackserver"))
        _ = track("/a")
        #expect(
            machine.handle(.answered(attempt: 1, .status(400, "no")))
                == [Self.hits(), .report(.refused(reason: "no"), calls: [1])]
        )
    }

    @Test mutating func aHitThatTheServerAlwaysFailsAtDoesNotBlockTheOthers() throws {
        _ = machine.handle(.trackingHost("trackserver"))
        _ = track("/bad", call: 1)
        _ = track("/good", call: 2)
        let limit = UInt64(TrackingMachine.maxRefusals)
        for attempt in 1...limit {
            let actions = machine.handle(.answered(attempt: attempt, Self.busy))
            #expect(actions.contains { if case .startTimer = $0 { true } else { false } }, "it is left alone each time")
            let next = request(attempt == limit ? "/good" : "/bad")
            #expect(machine.handle(.retryNow) == [.send(attempt: attempt + 1, next)])
        }
    }

    @Test mutating func beyondTheLimitTheOldestGoes() throws {
        _ = machine.handle(.trackingHost("trackserver"))
        for index in 0..<TrackingMachine.maxHits { _ = track("/\(index)", call: UInt64(index)) }
        let actions = track("/new", call: 1000)
        #expect(actions.contains { if case .report(.refused, calls: [1]) = $0 { true } else { false } })
        guard case .store(let hits) = actions.first(where: { if case .store = $0 { true } else { false } }) else {
            Issue.record("nothing was stored")
            return
        }
        #expect(hits.count == TrackingMachine.maxHits)
        #expect(hits.first?.path == "/0", "it is under way")
        #expect(hits.last?.path == "/new")
    }
}
