import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Changes of a delivery before anything has left")
struct EditingTests {
    private func made(_ fixture: StoreFixture) async throws -> Int64 {
        var new = NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        new.messagesPerSecond = 100
        return try await fixture.store.createDelivery(new)
    }

    /// Calls a function of the contract; returns the SQLSTATE of its refusal, nil if it succeeds.
    @discardableResult
    private func call(_ fixture: StoreFixture, _ call: String) async throws -> String? {
        do {
            try await fixture.sql("DO $$ BEGIN PERFORM pushmta.\(call); END $$")
            return nil
        } catch let error as PostgresError { return error.sqlState }
    }

    private func isTrue(_ fixture: StoreFixture, _ id: Int64, _ condition: String) async throws -> Bool {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE id = \(id) AND \(condition)") == 1
    }

    @Test("Content, settings and target of one being edited or scheduled can be changed", arguments: [false, true])
    func changed(isScheduled: Bool) async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        if isScheduled { #expect(try await call(fixture, "start_delivery(\(id), now() + interval '3 hours')") == nil) }
        let change = """
            update_delivery(\(id), label => 'Sale 2', content => '{"ios": {"title": "Hello"}}', filter => 'locale = ''de''',
                priority => 7, validity => interval '2 days', max_retries => 1)
            """
        #expect(try await call(fixture, change) == nil)
        let changed = """
            label = 'Sale 2' AND content #>> '{ios,title}' = 'Hello' AND target_filter = 'locale = ''de''' AND priority = 7
            AND validity = interval '2 days' AND max_retries = 1
            """
        #expect(try await isTrue(fixture, id, changed))
        #expect(try await isTrue(fixture, id, "state = '\(isScheduled ? "pending" : "editing")'"))
        #expect(try await call(fixture, #"update_delivery(\#(id), content => '{"ios": {"titel": "x"}}')"#) == "PM020")
        #expect(try await call(fixture, "update_delivery(\(id), filter => 'nonsense')") == "PM021")
        #expect(try await call(fixture, "update_delivery(\(id), priority => 1000)") == "PM007")
    }

    @Test("A fixed end replaces the length of the validity, and must come after the start")
    func ends() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        #expect(try await call(fixture, "update_delivery(\(id), ends_at => now() + interval '1 hour')") == nil)
        #expect(try await call(fixture, "start_delivery(\(id), now() + interval '2 hours')") == "PM009")
        #expect(try await call(fixture, "start_delivery(\(id), now() + interval '30 minutes')") == nil)
        #expect(try await isTrue(fixture, id, "valid_until = ends_at AND ends_at < start_at + interval '31 minutes'"))
        #expect(try await call(fixture, "update_delivery(\(id), validity => interval '5 hours')") == nil)
        #expect(try await isTrue(fixture, id, "valid_until = start_at + interval '5 hours' AND ends_at IS NULL"))
    }

    @Test("An end that a delivery cannot have is refused; a copy has one that is not over")
    func impossibleEnds() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        for end in ["now() - interval '1 hour'", "'infinity'"] {
            #expect(try await call(fixture, "update_delivery(\(id), ends_at => \(end))") == "PM009")
        }
        let continuous = try await made(fixture)
        #expect(try await call(fixture, "make_continuous(\(continuous))") == nil)
        let tomorrow = "now() + interval '1 day'"
        #expect(try await call(fixture, "update_delivery(\(continuous), ends_at => \(tomorrow))") == "PM007")
        #expect(try await call(fixture, "update_delivery(\(continuous), validity => interval '1 day')") == nil)
        #expect(try await call(fixture, "update_delivery(\(id), ends_at => \(tomorrow))") == nil)
        #expect(try await call(fixture, "copy_delivery(\(id))") == nil)
        let copied = "SELECT count(*) FROM pushmta_engine.delivery WHERE ends_at > now()"
        #expect(try await fixture.sql(copied) == 2)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET ends_at = now()")
        #expect(try await call(fixture, "copy_delivery(\(id))") == nil)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE ends_at IS NOT NULL") == 3)
    }

    @Test("One that has begun cannot be changed; a copy of it can")
    func copied() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        let id = try await made(fixture)
        try await fixture.store.startDelivery(id)
        try await fixture.prepare()
        #expect(try await call(fixture, "update_delivery(\(id), label => 'x')") == "PM006")
        #expect(try await call(fixture, "reschedule_delivery(\(id), NULL)") == "PM006")
        let copy = try required(try await fixture.sql("SELECT pushmta.copy_delivery(\(id), 'Again')"))
        let copied = "state = 'editing' AND label = 'Again' AND content #>> '{ios,title}' = 'Hi'"
        #expect(try await isTrue(fixture, copy, copied))
        let rate = try await fixture.sql(
            "SELECT messages_per_second::bigint FROM pushmta_engine.rate_limit WHERE delivery_id = \(copy)"
        )
        #expect(rate == 100)
        try await fixture.store.startDelivery(copy)
        try await fixture.prepare()
        #expect(try await fixture.store.deliveryProgress(copy).target == 3)
        #expect(try await call(fixture, "copy_delivery(999)") == "PM002")
    }

    @Test("A start is moved, or taken back")
    func moved() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        #expect(try await call(fixture, "reschedule_delivery(\(id), now() + interval '1 hour')") == "PM008")
        #expect(try await call(fixture, "start_delivery(\(id), now() + interval '3 hours')") == nil)
        #expect(try await call(fixture, "reschedule_delivery(\(id), now() + interval '5 hours')") == nil)
        let moved = "start_at > now() + interval '4 hours' AND valid_until = start_at + validity"
        #expect(try await isTrue(fixture, id, moved))
        #expect(try await call(fixture, "reschedule_delivery(\(id), now() - interval '1 hour')") == "PM009")
        #expect(try await call(fixture, "reschedule_delivery(\(id), NULL)") == nil)
        #expect(try await fixture.store.deliveryProgress(id).state == .editing)
        try await fixture.store.startDelivery(id)
        #expect(try await fixture.store.deliveryProgress(id).state == .pending)
    }

    @Test("Programs change it by name, and what they do not name stays")
    func changedByName() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        try await fixture.sql("SELECT pushmta.create_exclusion_list('complaints')::bigint")
        var changes = DeliveryChanges()
        #expect(changes.isEmpty)
        changes.label = "Winter"
        changes.filter = "locale = 'de'"
        changes.excludedLists = ["complaints"]
        changes.priority = 7
        changes.validitySeconds = 3_600
        changes.ambiguityPolicy = .report
        changes.retrySchedule = .exponential
        #expect(!changes.isEmpty)
        try await fixture.store.updateDelivery(id, changes)
        let changed = """
            label = 'Winter' AND target_filter = 'locale = ''de''' AND priority = 7 AND validity = interval '1 hour'
            AND ambiguity_policy = 'report' AND retry_schedule = 'exponential' AND content #>> '{ios,title}' = 'Hi'
            """
        #expect(try await isTrue(fixture, id, changed))
        let lists = "SELECT count(*) FROM pushmta_engine.delivery_exclusion_list WHERE delivery_id = \(id)"
        #expect(try await fixture.sql(lists) == 1)
        var others = DeliveryChanges()
        others.filter = ""
        others.excludedLists = []
        others.endsAt = "2999-12-01T00:00:00Z"
        try await fixture.store.updateDelivery(id, others)
        #expect(try await isTrue(fixture, id, "target_filter IS NULL AND label = 'Winter' AND ends_at IS NOT NULL"))
        #expect(try await fixture.sql(lists) == 0)
        var wrong = DeliveryChanges()
        wrong.priority = 1_000
        let change = wrong
        await #expect(throws: StoreError.self) { try await fixture.store.updateDelivery(id, change) }
    }

    @Test("Programs copy it and move its start")
    func copiedAndMovedByPrograms() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture)
        let copy = try await fixture.store.copyDelivery(id)
        #expect(copy != id)
        #expect(try await isTrue(fixture, copy, "label = 'Sale' AND state = 'editing'"))
        await #expect(throws: StoreError.self) { _ = try await fixture.store.copyDelivery(id, label: "a\nb") }
        try await fixture.store.startDelivery(id, at: "2999-12-01T00:00:00Z")
        try await fixture.store.rescheduleDelivery(id, to: "2999-12-02T00:00:00+01:00")
        #expect(try await isTrue(fixture, id, "start_at = '2999-12-01 23:00+00'"))
        await #expect(throws: StoreError.self) {
            try await fixture.store.rescheduleDelivery(id, to: "2020-12-02T00:00:00Z")
        }
        try await fixture.store.rescheduleDelivery(id, to: nil)
        #expect(try await isTrue(fixture, id, "start_at IS NULL AND state = 'editing'"))
    }
}
