import PushCore
import Store
import TestSupport
import Testing

@Suite("Which limit binds")
struct ExplanationTests {
    private func limits(_ fixture: StoreFixture, _ subject: ExplainedSubject) async throws -> [String: LimitRow] {
        let rows = try await fixture.store.limits(of: subject)
        return Dictionary(rows.map { ("\($0.subject): \($0.limit)", $0) }, uniquingKeysWith: { first, _ in first })
    }

    @Test("A delivery's state, the gateway's trouble and a delivery's rate are reported with who sets them")
    func delivery() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let well = try await limits(fixture, .delivery(id))
        #expect(well["delivery \(id): state"]?.binds == false)
        #expect(well["shop-ios over apns: circuit"]?.now == "closed")
        #expect(well["shop-ios over apns: gateway"]?.now == "well")
        // No process runs yet, and messages wait.
        #expect(well["shop-ios over apns: children"]?.binds == true)
        _ = try await fixture.child()
        #expect(try await limits(fixture, .delivery(id))["shop-ios over apns: children"]?.binds == false)

        // Messages that a circuit holds back wait for no child, and the reason is stated once.
        let (other, held) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await other.store.openCircuit(application: 1, reason: "refused.", remedy: "set another key")
        let open = try await limits(other, .delivery(held))
        #expect(open["shop-ios over apns: children"]?.binds == false)
        let circuit = try #require(open["shop-ios over apns: circuit"])
        #expect(circuit.binds && circuit.why == "refused; set another key")

        try await fixture.store.enterTrouble(
            application: 1,
            account: 1,
            reason: "503 ServiceUnavailable",
            nextProbeIn: .seconds(3),
            keepsProber: false
        )
        try await fixture.store.setDeliveryRate(id, messagesPerSecond: 20)
        try await fixture.sql("UPDATE pushmta_engine.rate_limit SET next_at = now() + interval '1 minute'")
        #expect(try await limits(fixture, .delivery(id)).keys.allSatisfy { !$0.contains("signal") })
        let ill = try await limits(fixture, .delivery(id))
        #expect(ill["delivery \(id): state"]?.binds == false, "the gateway is what binds")
        #expect(ill["delivery \(id): state"]?.why.contains("503 ServiceUnavailable") == true)
        #expect(ill["shop-ios over apns: gateway"]?.binds == true)
        #expect(ill["shop-ios over apns: gateway"]?.why == "503 ServiceUnavailable")
        let rate = try #require(ill["delivery \(id): messages a second"])
        #expect(rate.binds && rate.maximum == "20.0" && rate.setBy == "pushmta delivery rate \(id)")
    }

    @Test("A delivery that follows a signal says so, with the signal's value and target")
    func signal() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await fixture.store.setHealthSignal(HealthSignal(name: "load", kind: .http, source: "https://m.example"))
        try await fixture.store.followSignal(id, "load", target: 0.8, floor: 10, ceiling: 500)
        let stale = try await limits(fixture, .delivery(id))
        let rate = try #require(stale["delivery \(id): messages a second"])
        #expect(rate.now == "10.0" && rate.maximum == "500.0" && rate.setBy == "pushmta delivery follow \(id)")
        #expect(rate.why == "it follows the signal load: stale")
        let signal = try #require(stale["delivery \(id): signal load"])
        #expect(signal.binds && signal.now == "no value" && signal.maximum == "below 0.8")
        let due = try #require(try await fixture.store.claimSignals().first)
        _ = try await fixture.store.note(.value(0.5), of: due)
        let found = try await fixture.store.followers(of: due)
        var follower = try #require(found.followers.first)
        let sample = try #require(found.sample)
        for second in 0..<2 {
            follower.controller.handle(.sample(0.5, sent: nil, at: sample.at + .seconds(second)))
        }
        try await fixture.store.setRates(of: due, [follower])
        try await fixture.sql("UPDATE pushmta_engine.delivery_signal SET state = 'at_floor'")
        let floor = try #require(try await limits(fixture, .delivery(id))["delivery \(id): messages a second"])
        #expect(floor.why == "it follows the signal load: at its floor")
        try await fixture.sql("UPDATE pushmta_engine.delivery_signal SET state = 'rising'")
        let rising = try #require(try await limits(fixture, .delivery(id))["delivery \(id): signal load"])
        #expect(!rising.binds && rising.now == "0.5" && rising.why == "the signal 0.5 is below its target of 0.8")
    }

    @Test("A delivery that is not sent says why, and its weight binds if others of its priority are due")
    func deliveryState() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let alone = try await limits(fixture, .delivery(id))
        #expect(alone["delivery \(id): weight"]?.binds == false && alone["delivery \(id): weight"]?.now == "1")
        _ = try await fixture.startedDelivery(["shop-ios"])
        try await fixture.prepare(partSize: 20)
        let shared = try #require(try await limits(fixture, .delivery(id))["delivery \(id): weight"])
        #expect(shared.binds && shared.setBy == "pushmta delivery weight \(id)")
        #expect(try await limits(fixture, .delivery(id))["delivery \(id): priority"]?.binds == false)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET state = 'paused' WHERE id = \(id)")
        let paused = try #require(try await limits(fixture, .delivery(id))["delivery \(id): state"])
        #expect(paused.binds && paused.why == "a user has paused it")
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET state = 'pending', start_at = '2126-01-02 03:04:05+00' WHERE id = \(id)"
        )
        let scheduled = try #require(try await limits(fixture, .delivery(id))["delivery \(id): state"])
        #expect(scheduled.binds && scheduled.why == "it starts at 2126-01-02 03:04:05 UTC")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = now() WHERE id = \(id)")
        let due = try #require(try await limits(fixture, .delivery(id))["delivery \(id): state"])
        #expect(due.why == "it is due: a host is about to begin it")
    }

    @Test("While the account is inactive nothing else binds, and no delivery waits for its own messages")
    func inactive() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        _ = try await fixture.child()
        // A single message of the delivery comes before its other messages.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET priority = 90
            WHERE id = (SELECT min(p.id) FROM pushmta_engine.delivery_part p)
            """
        )
        #expect(try await limits(fixture, .delivery(id))["delivery \(id): priority"]?.binds == false)
        let other = try await fixture.startedDelivery(["shop-ios"])
        try await fixture.prepare(partSize: 20)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET priority = 95 WHERE delivery_id = \(other)")
        #expect(try await limits(fixture, .delivery(id))["delivery \(id): priority"]?.binds == true)
        try await fixture.store.setAccount(name: "apns", active: false)
        let binding = try await fixture.store.limits(of: .delivery(id)).filter(\.binds)
        #expect(binding.map(\.limit) == ["account"], "\(binding)")
    }

    @Test("A child's own choice is reported with the setting that bounds it, for its application and its host")
    func child() async throws {
        let fixture = try await StoreFixture.make()
        let child = try await fixture.child()
        var report = ChildReport(pid: 7, state: .sending)
        (report.connections.open, report.connections.wanted, report.connections.limit) = (32, 32, 32)
        report.connections.reason = "grown"
        report.connections.streamsInFlight = 32_000
        (report.connections.dispatchWindow, report.connections.dispatchWindowLimit) = (35_000, 40_000)
        report.connections.limitedBy = .connections
        report.latencyP50Milliseconds = 3000
        try await fixture.store.recordChildReport(report, child: child)
        #expect(try await fixture.store.children().first?.report.connections == report.connections)
        for subject in [ExplainedSubject.application(1), .host(fixture.host)] {
            let rows = try await limits(fixture, subject)
            let connections = try #require(rows["child \(child) on one: connections"])
            #expect(connections.binds && connections.maximum == "32")
            #expect(connections.setBy == "mta.child.maxAPNsConnectPerChild")
            #expect(connections.why.hasPrefix("the gateway is slow; requests waited for a stream"))
            #expect(rows["child \(child) on one: dispatch window"]?.binds == false)
        }
        #expect(
            try await limits(fixture, .host(fixture.host))["host one: children"]?.setBy
                == "mta.master.maxSpareServers, maxSmallChildren"
        )
        #expect(try await fixture.store.limits(of: .application(2)).allSatisfy { !$0.subject.contains("child") })
    }
}
