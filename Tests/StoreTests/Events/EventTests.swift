import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// What consumers are told, and in which order.
@Suite("Events")
struct EventTests {
    /// The kinds of a consumer's next events with the message or subscription that each is about.
    private func next(_ fixture: StoreFixture, _ consumer: String = "crm", limit: Int = 1000) async throws -> [String] {
        try await fixture.store.nextEvents(of: consumer, limit: limit).map { event in
            "\(event.kind) \(event.sequence.map(Int64.init) ?? event.subscription ?? 0)"
        }
    }

    private func count(_ fixture: StoreFixture) async throws -> Int64? {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.event")
    }

    @Test("Without consumers nothing is recorded")
    func offByDefault() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 20)
        var batch = OutcomeBatch()
        batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<20, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1)]
        _ = try await fixture.store.storeOutcomes(batch)
        try await fixture.hit(part.deliveryID, [(1, .clicked)], position: 1)
        try await fixture.store.setOptOut(1, true)
        #expect(try await count(fixture) == 0)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        try await fixture.store.setOptOut(2, true)
        #expect(try await next(fixture) == ["device.opted_out 2"])
        try await fixture.store.dropConsumer("crm")
        try await fixture.store.setOptOut(3, true)
        #expect(try await count(fixture) == 1)
    }

    @Test("An opt-out from a category is told with its name, and only if something changed")
    func categories() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.store.setOptOut(1, category: "news", true)
        #expect(try await count(fixture) == 0)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        try await fixture.store.setOptOut(1, category: "news", true)
        try await fixture.store.setOptOut(2, category: "marketing", true)
        _ = try await fixture.store.setOptOut(ofUser: "shop-ios-3", service: "shop", category: "news", true)
        try await fixture.store.setOptOut(1, category: "news", false)
        let events = try await fixture.store.nextEvents(of: "crm", limit: 10)
        #expect(
            events.map { "\($0.kind) \($0.subscription ?? 0) \($0.reason ?? "")" } == [
                "device.opted_out 2 marketing", "device.opted_out 3 news", "device.opted_in 1 news",
            ]
        )
        #expect(events.allSatisfy { $0.application == "shop-ios" && $0.delivery == nil })
        try await fixture.sql("SELECT count(*) FROM pushmta.forget_user('shop', 'shop-ios-2')")
        #expect(try await next(fixture) == ["device.forgotten 2"])
    }

    /// With COPY and with INSERT.
    @Test("Outcomes, hits and the delivery's end, each exactly once", arguments: [20, 5_000])
    func life(subscribers: Int64) async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: subscribers)
        // A large delivery has several parts.
        let messages = Int(part.size)
        try await fixture.store.createConsumer(NewConsumer(name: "crm", kinds: ["message", "delivery"]))
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var first = OutcomeBatch()
        first.append(part, loaded, rows: 0..<1, .sent)
        _ = try await fixture.store.storeOutcomes(first)
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 1..<messages - 2, .sent)
        batch.append(part, loaded, rows: messages - 2..<messages, .failed, reason: "Unregistered")
        batch.closing = [ClosingPart(part: part.id, token: 1)]
        _ = try await fixture.store.storeOutcomes(batch)
        _ = try await fixture.store.storeOutcomes(batch)
        try await fixture.hit(part.deliveryID, [(2, .received), (2, .clicked)], position: 1)
        _ = try await fixture.store.finishDeliveries()
        let events = try await fixture.store.nextEvents(of: "crm", limit: 10_000)
        let ids = Set(events.map(\.id))
        #expect(ids.count == events.count)
        let sent = events.filter { $0.kind == "message.sent" }
        #expect(sent.compactMap(\.sequence) == Array(1...Int32(messages - 2)))
        #expect(
            sent.allSatisfy { $0.service == "shop" && $0.application == "shop-ios" && $0.delivery == part.deliveryID }
        )
        #expect(sent.compactMap(\.subscription) == Array(loaded.subscriptionIDs[0..<messages - 2]))
        let failed = events.filter { $0.kind == "message.failed" }
        #expect(failed.count == 2 && failed.allSatisfy { $0.reason == "Unregistered" })
        #expect(events.filter { $0.kind == "message.received" }.map(\.sequence) == [2])
        #expect(events.filter { $0.kind == "message.clicked" }.map(\.sequence) == [2])
        if subscribers == messages {
            #expect(events.last?.kind == "delivery.changed" && events.last?.state == "finished")
        }
        #expect(try await next(fixture).isEmpty)
    }

    @Test("Messages without a row of their own, and answers of a journal")
    func stopped() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 10)
        let part = try required(try await fixture.claim().first)
        try await fixture.store.createConsumer(NewConsumer(name: "crm", kinds: ["message"]))
        try await fixture.store.stopDelivery(id)
        let canceled = try await fixture.store.nextEvents(of: "crm", limit: 100)
        #expect(canceled.count == 10 && canceled.allSatisfy { $0.kind == "message.canceled" && $0.reason == "stopped" })
        let first = try required(
            try await fixture.sql(
                "SELECT first_sequence FROM pushmta_engine.delivery_part_target WHERE part_id = \(part.id)"
            )
        )
        var fact = OutcomeBatch()
        fact.append(
            part: part.id,
            token: part.fencingToken,
            sequence: Int32(first),
            subscriptionID: 0,
            status: .sent
        )
        _ = try await fixture.store.storeFacts(fact)
        _ = try await fixture.store.storeFacts(fact)
        let sent = try await fixture.store.nextEvents(of: "crm", limit: 100)
        #expect(sent.map(\.kind) == ["message.sent"] && sent.first?.subscription ?? 0 > 0)
    }

    @Test("Events of a transaction that commits after later ones were read")
    func lateCommit() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        let first = try await fixture.hold("SELECT pushmta.set_opt_out(1, true)")
        try await fixture.other.setOptOut(2, true)
        #expect(try await next(fixture) == ["device.opted_out 2"])
        #expect(try await next(fixture).isEmpty)
        try await first.run(script: "COMMIT")
        #expect(try await next(fixture) == ["device.opted_out 1"])
        #expect(try await next(fixture).isEmpty)
        // It goes on reading while another transaction never ends.
        let long = try await fixture.hold("SELECT pushmta.set_opt_out(1, false)")
        for wanted in [false, true] {
            try await fixture.other.setOptOut(3, !wanted)
            #expect(try await next(fixture) == ["device.opted_\(wanted ? "in" : "out") 3"])
        }
        try await long.run(script: "ROLLBACK")
        #expect(try await next(fixture).isEmpty)
        await first.close()
        await long.close()
    }

    @Test("The events of a subscription come in order, even if the second transaction began first")
    func order() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        // It has the smaller id, and waits for the other one's row lock.
        let second = try await fixture.hold("SELECT pg_current_xact_id()")
        let first = try await fixture.hold("SELECT pushmta.set_opt_out(1, true)")
        let waiting = Task { try await second.run(script: "SELECT pushmta.set_opt_out(1, false); COMMIT") }
        try await fixture.waitForLock()
        try await first.run(script: "COMMIT")
        _ = try await waiting.value
        #expect(try await next(fixture, limit: 1) == ["device.opted_out 1"])
        #expect(try await next(fixture, limit: 1) == ["device.opted_in 1"])
        await first.close()
        await second.close()
    }

    @Test("What was read and not committed is given again; two readers take turns")
    func crash() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 4)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        for id in 1...4 { try await fixture.store.setOptOut(Int64(id), true) }
        let reader = try await fixture.hold("SELECT * FROM pushmta.next_events('crm', 2)")
        await #expect(throws: StoreError.self) { try await fixture.store.nextEvents(of: "crm", limit: 2) }
        // The process dies.
        await reader.close()
        try await eventually("its transaction is rolled back") {
            (try? await fixture.sql("SELECT 1 FROM pushmta_engine.event_position FOR UPDATE NOWAIT")) == 1
        }
        struct Crash: Error {}
        await #expect(throws: Crash.self) {
            try await fixture.store.readEvents(of: "crm", limit: 3) { _ in throw Crash() }
        }
        #expect(try await next(fixture, limit: 3) == (1...3).map { "device.opted_out \($0)" })
        #expect(try await next(fixture, limit: 3) == ["device.opted_out 4"])
    }

    @Test("What is committed while a reader waits for another one is given")
    func waitingReader() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        try await fixture.other.setOptOut(1, true)
        let first = try await fixture.hold("SELECT * FROM pushmta.next_events('crm')")
        let waiting = Task { try await next(fixture) }
        try await fixture.waitForLock()
        try await fixture.other.setOptOut(2, true)
        try await first.run(script: "COMMIT")
        #expect(try await waiting.value == ["device.opted_out 2"])
        await first.close()
    }

    @Test("A transaction that reads twice and records events itself")
    func ownEvents() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        let reader = try await fixture.hold(
            """
            SELECT pushmta.set_opt_out(1, true); SELECT * FROM pushmta.next_events('crm');
            SELECT pushmta.set_opt_out(2, true); SELECT * FROM pushmta.next_events('crm')
            """
        )
        try await fixture.other.setOptOut(3, true)
        try await reader.run(script: "COMMIT")
        #expect(try await next(fixture).sorted() == (1...3).map { "device.opted_out \($0)" })
        #expect(try await next(fixture).isEmpty)
        #expect(try await fixture.store.eventGaps().isEmpty)
        await reader.close()
    }

    @Test("A forgotten user has no events any more, except that")
    func forgetting() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        try await fixture.store.createConsumer(NewConsumer(name: "crm"))
        for id in 1...2 { try await fixture.store.setOptOut(Int64(id), true) }
        _ = try await fixture.store.forgetUser(service: "shop", userKey: "shop-ios-1")
        #expect(try await next(fixture) == ["device.opted_out 2", "device.forgotten 1"])
    }

    @Test("Kinds and services")
    func choices() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        try await fixture.store.createService(name: "bank", label: "Bank")
        try await fixture.store.createConsumer(NewConsumer(name: "crm", kinds: ["device.opted_in"]))
        try await fixture.store.createConsumer(NewConsumer(name: "bank", service: "bank"))
        try await fixture.store.setOptOut(1, true)
        try await fixture.store.setOptOut(1, false)
        #expect(try await next(fixture) == ["device.opted_in 1"])
        #expect(try await next(fixture, "bank").isEmpty)
        await #expect(throws: StoreError.self) {
            try await fixture.store.createConsumer(NewConsumer(name: "x", kinds: ["device.sold"]))
        }
        await #expect(throws: StoreError.self) {
            try await fixture.store.createConsumer(NewConsumer(name: "x", kinds: []))
        }
        await #expect(throws: StoreError.self) { try await fixture.store.createConsumer(NewConsumer(name: "crm")) }
        await #expect(throws: StoreError.self) { try await fixture.store.nextEvents(of: "nobody", limit: 1) }
        await #expect(throws: StoreError.self) {
            try await fixture.store.createConsumer(NewConsumer(name: "x", reader: "no_such_role"))
        }
        await #expect(throws: StoreError.self) {
            try await fixture.store.createConsumer(NewConsumer(name: "x", reader: "key:none"))
        }
    }

    @Test("A consumer that is away loses what is too old or too much, and is told so")
    func bounds() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.store.createConsumer(NewConsumer(name: "crm", maxAgeSeconds: 60, maxBytes: 1 << 20))
        try await fixture.store.setOptOut(1, true)
        try await fixture.store.setOptOut(2, true)
        try await fixture.sql("UPDATE pushmta_engine.event SET occurred_at = now() - interval '1 hour'")
        try await fixture.sql("UPDATE pushmta_engine.event_position SET position_at = now() - interval '1 hour'")
        try await fixture.store.setOptOut(3, true)
        #expect(try await fixture.heartbeat())
        #expect(try await fixture.store.keepEvents(worker: StoreFixture.worker) == 1)
        #expect(try await fixture.store.eventGaps().map { "\($0.consumer) \($0.why) \($0.lost)" } == ["crm age 2"])
        #expect(try await next(fixture) == ["device.opted_out 3"])
        #expect(try await fixture.alarms("events_lost").map(\.subject) == ["crm"])
        // 2 MiB, of which it keeps about one.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.event (log_day, n, kind, sequences, subscription_ids)
            SELECT pushmta_engine.event_day(), 1000, 1, x.sequences, x.ids
            FROM (SELECT array_agg(g) AS sequences, array_agg(g::bigint) AS ids FROM generate_series(1, 1000) g) x,
                generate_series(1, 160)
            """
        )
        #expect(try await fixture.store.keepEvents(worker: StoreFixture.worker) == 1)
        let lost = try required(try await fixture.store.eventGaps().first { $0.why == "size" }).lost
        #expect(lost > 10_000 && lost < 150_000)
        #expect(try await fixture.store.nextEvents(of: "crm", limit: 100_000).count + Int(lost) == 160_000)
        #expect(try await fixture.store.keepEvents(worker: StoreFixture.worker) == 0)
    }

    @Test("A consumer of one service loses nothing with the events of another one")
    func boundsOfService() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        try await fixture.store.createService(name: "bank", label: "Bank")
        try await fixture.store.createConsumer(NewConsumer(name: "bank", service: "bank", maxAgeSeconds: 60))
        try await fixture.store.setOptOut(1, true)
        try await fixture.store.setOptOut(2, true)
        try await fixture.sql("UPDATE pushmta_engine.event SET occurred_at = now() - interval '1 hour'")
        try await fixture.sql("UPDATE pushmta_engine.event_position SET position_at = now() - interval '2 hours'")
        #expect(try await fixture.heartbeat())
        #expect(try await fixture.store.keepEvents(worker: StoreFixture.worker) == 0)
        #expect(try await fixture.store.eventGaps().isEmpty)
        #expect(try await fixture.store.consumers().map(\.lost) == [0])
        #expect(try await fixture.alarms("events_lost").isEmpty)
        // Its position has moved, so that days are not kept for it.
        let passed =
            "SELECT count(*) FROM pushmta_engine.event_position WHERE position_at > now() - interval '90 minutes'"
        #expect(try await fixture.sql(passed) == 1)
        #expect(try await next(fixture, "bank").isEmpty)
    }

    @Test("Days of events are dropped when every consumer has read them")
    func days() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            "SELECT pushmta_engine.ensure_partitions(d - 6, d - 5) FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS d) x"
        )
        try await fixture.store.createConsumer(NewConsumer(name: "crm", maxAgeSeconds: 2_000_000))
        try await fixture.sql("UPDATE pushmta_engine.event_position SET position_at = now() - interval '4 days'")
        #expect(try await fixture.heartbeat())
        let old = "SELECT count(*) FROM pushmta_engine.event_day WHERE day < (now() AT TIME ZONE 'UTC')::date - 4"
        #expect(try await fixture.store.keepEvents(worker: StoreFixture.worker) == 1)
        #expect(try await fixture.sql(old) == 1)
        #expect(try await fixture.store.keepEvents(worker: StoreFixture.worker) == 0)
        _ = try await next(fixture)
        #expect(try await fixture.store.keepEvents(worker: StoreFixture.worker) == 1)
        #expect(try await fixture.sql(old) == 0)
    }

    @Test("A registration, another one, and its end")
    func devices() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.createConsumer(NewConsumer(name: "crm", kinds: ["device"]))
        let register = """
            SELECT r.created FROM pushmta_engine.register_devices(ARRAY[1], ARRAY[repeat('ab', 32)], ARRAY['ada'], ARRAY['phone'], ARRAY[''], ARRAY[''],
                ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL]) r
            """
        try await fixture.sql(register)
        #expect(try await next(fixture) == ["device.registered 1"])
        try await fixture.sql(register)
        #expect(try await next(fixture) == ["device.renewed 1"])
        try await fixture.store.query("SELECT pushmta.unregister_device(1)")
        let ended = try await fixture.store.nextEvents(of: "crm", limit: 10)
        #expect(ended.map(\.kind) == ["device.disabled"] && ended.first?.reason == "unregistered")
        #expect(ended.first?.userKey == "ada")
    }
}
