import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Accounts of deliveries, hosts and children")
struct ProofTests {
    @Test("A snapshot finds counts that do not add up")
    func snapshot() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        let part = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<5, .sent)
        _ = try await fixture.store.storeOutcomes(batch)
        let sound = try await fixture.store.snapshot(delivery: id)
        #expect(sound.faults.isEmpty && sound.rows == [.sent: 5, .pending: 35] && sound.runs.map(\.last) == [40])
        let outcomes = try await fixture.store.outcomeRows(delivery: id)
        #expect(outcomes.map(\.sequence) == Array(1...40) && outcomes.filter { $0.status == .sent }.count == 5)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET sent = sent + 1 WHERE id = \(part.id)")
        #expect(try await !fixture.store.snapshot(delivery: id).faults.isEmpty)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET sent = sent - 1 WHERE id = \(part.id)")
        // A message that is in two unfinished parts.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size)
            SELECT delivery_id, application_id, external_account_id, log_day, 1 FROM pushmta_engine.delivery_part LIMIT 1
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                subscription_ids)
            SELECT id, delivery_id, log_day, 30, 30, '{30}' FROM pushmta_engine.delivery_part ORDER BY id DESC LIMIT 1
            """
        )
        let unsound = try await fixture.store.snapshot(delivery: id)
        #expect(unsound.duplicateRows == 1 && unsound.messages == 41 && !unsound.faults.isEmpty)
    }

    @Test("The database has the same identity for every session")
    func installation() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.store.installationID()
        #expect(id.count == 36 && id == id.lowercased())
        #expect(try await fixture.other.installationID() == id)
        await #expect { try await fixture.sql("INSERT INTO pushmta_engine.installation DEFAULT VALUES") } throws: {
            ($0 as? PostgresError)?.sqlState == "23505"
        }
    }

    @Test("A host gets the request to drain until its next supervisor starts")
    func drain() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        func report(_ id: String, _ name: String, _ version: String) -> HostReport {
            HostReport(
                id: id,
                name: name,
                pid: 1,
                version: version,
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/var/lib/pushmta"
            )
        }
        let first = report(fixture.host, "one", "1")
        #expect(try await store.recordHostHeartbeat(first) == HostRequests())
        #expect(try await store.requestDrain(host: "one") == fixture.host)
        #expect(try await store.recordHostHeartbeat(first).isDrainRequested)
        #expect(try await store.hosts().first?.isDrainRequested == true)
        try await store.registerHost(first)
        #expect(try await store.recordHostHeartbeat(first) == HostRequests())
        #expect(try await store.hosts().first?.isVersionMixed == false)
        let second = report("7f9619ff-8b86-4011-b42d-00cf4fc964ff", "one", "2")
        try await store.registerHost(second)
        #expect(try await store.hosts().allSatisfy(\.isVersionMixed))
        await #expect { try await store.requestDrain(host: "one") } throws: {
            ($0 as? StoreError)?.code == .invalid && "\($0)".contains(second.id)
        }
        #expect(try await store.requestDrain(host: second.id) == second.id)
        await #expect { try await store.requestDrain(host: "two") } throws: { ($0 as? StoreError)?.code == .notFound }
        try await fixture.sql(
            "UPDATE pushmta_engine.mta_host SET last_heartbeat = now() - interval '20 s' WHERE version = '2'"
        )
        let hosts = try await store.hosts()
        #expect(hosts.map(\.health).sorted() == ["alive", "gone"] && hosts.allSatisfy { !$0.isVersionMixed })
    }

    @Test("Ambiguous, late and replayed outcomes are counted for the child and its host")
    func counters() async throws {
        let fixture = try await StoreFixture.make()
        let children = [try await fixture.child(), try await fixture.child("shop-android")]
        for child in children {
            var report = ChildReport(pid: 1, state: .sending)
            (report.counts.unknown, report.counts.resentAfterAmbiguity, report.counts.lateOutcomes) = (2, 3, 4)
            try await fixture.store.recordChildReport(report, child: child)
            try await fixture.store.addReplayed(child: child, count: 5)
        }
        #expect(try await fixture.store.children().map(\.id) == [children[1], children[0]])
        try await fixture.store.childExited(children[0], reason: "drained")
        #expect(try await fixture.store.children().map(\.id) == [children[1]])
        let host = try required(try await fixture.store.hosts().first)
        #expect(host.unknown == 4 && host.resentAfterAmbiguity == 6 && host.lateOutcomes == 8)
        #expect(host.report.journalReplayed == 10)
        let child = try required(try await fixture.store.children().first)
        #expect(child.report.counts.lateOutcomes == 4 && child.journalReplayed == 5 && child.health == "alive")
        #expect(child.applicationName == "shop-android" && child.accountName == "fcm")
    }

    @Test("A delivery is created with its retries")
    func retries() async throws {
        let fixture = try await StoreFixture.make()
        let new = NewDelivery(
            label: "r",
            applications: ["shop-ios"],
            content: #"{"ios": {"title": "a"}}"#,
            maxRetries: 0,
            retryPeriodSeconds: 7
        )
        let id = try await fixture.store.createDelivery(new)
        try await fixture.store.startDelivery(id)
        let sending = try await fixture.store.deliveryForSending(id)
        #expect(sending.maxRetries == 0 && sending.retryPeriodSeconds == 7)
        #expect(try await fixture.store.trackingKey(delivery: id) == sending.trackingKey)
        var bad = new
        bad.maxRetries = 1001
        await #expect { try await fixture.store.createDelivery(bad) } throws: { ($0 as? StoreError)?.code == .invalid }
    }

    @Test("An open snapshot does not see later changes")
    func reader() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        let (before, after) = try await fixture.store.holdSnapshot { reader in
            let before = try await reader.read()
            _ = try await fixture.startedDelivery()
            return (before, try await reader.read())
        }
        #expect(before == 10 && after == 10)
    }
}
