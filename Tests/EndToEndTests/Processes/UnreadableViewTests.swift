import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// An unreadable view of a target mapping holds up only the deliveries that use it, and the reason is reported.
@Suite struct UnreadableViewTests {
    /// A site whose service has a mapping to people, all of whom are subscribed.
    private func with(subscribers: Int64, _ body: (DeliverySite) async throws -> Void) async throws {
        // One child, which loads a bounded number of messages ahead and sends both deliveries of a test.
        try await DeliverySite.with(subscribers: subscribers, children: 1) { site in
            try await run(
                site,
                """
                CREATE SCHEMA crm;
                CREATE TABLE crm.number (key text PRIMARY KEY, city text, n integer);
                INSERT INTO crm.number SELECT 'user-' || id, 'Lyon', 1 FROM pushmta_engine.subscription;
                UPDATE pushmta_engine.subscription SET user_key = 'user-' || id;
                CREATE VIEW crm.person AS SELECT key, city, 12 / n AS share FROM crm.number;
                GRANT USAGE ON SCHEMA crm TO pushmta_reader;
                GRANT SELECT ON crm.person TO pushmta_reader;
                """
            )
            try await site.run("mapping", "add", "people", "--view", "crm.person", "--key", "key")
            try await site.run("service", "set", site.audience.prefix, "--mapping", "people")
            try await body(site)
        }
    }

    private func run(_ site: DeliverySite, _ script: String) async throws {
        let connection = try await PostgresConnection.connect(StoreSession.configuration(site.settings, role: "test"))
        try await connection.run(script: script)
        await connection.close()
    }

    private func alarms(_ site: DeliverySite) async throws -> String {
        try await site.run("status", "--json").output
    }

    @Test func aRenamedColumnHoldsUpOneDeliveryAndNoOther() async throws {
        try await with(subscribers: 12_000) { site in
            // Slow, so that the delivery is in progress when the column is renamed.
            try await site.slowDown(streams: 10, milliseconds: 20)
            let mapped = try await site.send(#"{"ios":{"title":"In {{mapping.city}}"}}"#, to: site.application)
            _ = try await site.progress(mapped) { $0.sent > 0 }
            try await run(site, "ALTER VIEW crm.person RENAME COLUMN city TO town")
            try await site.slowDown(streams: 1_000, milliseconds: 0)
            let held = try await site.progress(mapped) { !$0.waitingReason.isEmpty }
            #expect(held.waitingReason.contains("city") && !held.state.isFinal)

            let plain = try await site.send(to: site.application)
            let sent = try await site.progress(plain)
            #expect(sent.state == .finished && sent.sent == 12_000)
            let waiting = try await site.progress(mapped) { !$0.waitingReason.isEmpty }
            #expect(waiting.pending > 0 && waiting.failed == 0)
            let status = try await site.run("delivery", "status", "\(mapped)").output
            #expect(status.contains("Alarm: ") && status.contains("cannot be loaded") && status.contains("city"))
            #expect(try await alarms(site).contains("delivery \(mapped)"))
            #expect(try await site.run("mapping", "list", "--json").output.contains("delivery \(mapped) uses it"))

            try await run(site, "ALTER VIEW crm.person RENAME COLUMN town TO city")
            // It is retried at most a minute later.
            let done = try await site.progress(mapped, within: .seconds(150))
            #expect(done.state == .finished && done.sent == 12_000 && done.waitingReason.isEmpty)
            #expect(try await !alarms(site).contains("cannot be loaded"))
        }
    }

    @Test func onePersonWhoCannotBeReadKeepsNobodyWaiting() async throws {
        try await with(subscribers: 200) { site in
            try await run(site, "UPDATE crm.number SET n = 0 WHERE key = (SELECT max(key) FROM crm.number)")
            let mapped = try await site.send(#"{"ios":{"title":"{{mapping.share}}"}}"#, to: site.application)
            let done = try await site.progress(mapped)
            #expect(done.state == .finished && done.sent == 199 && done.failed == 1)
            let reasons = try await site.store.outcomeCounts(delivery: mapped)
            #expect(reasons.contains { $0.reason.hasPrefix("FieldsUnreadable: ") && $0.count == 1 })

            // A filter cannot decide whether that person is selected: the delivery waits, and reports it without SQL.
            let filtered = try await site.store.createDelivery(
                NewDelivery(label: "x", applications: [site.application], content: #"{"ios":{"title":"Hello"}}"#)
            )
            try await site.store.setTarget(ofDelivery: filtered, DeliveryTarget(filter: "mapping.share > 0"))
            try await site.store.startDelivery(filtered)
            let held = try await site.progress(filtered) { !$0.waitingReason.isEmpty }
            #expect(held.state == .preparing && held.waitingReason.contains("division by zero"))
            #expect(!held.waitingReason.contains("SELECT") && held.stateReason.isEmpty)
            #expect(try await alarms(site).contains("it cannot be prepared now"))
            try await run(site, "UPDATE crm.number SET n = 1")
            let all = try await site.progress(filtered, within: .seconds(150))
            #expect(all.state == .finished && all.sent == 200)
        }
    }
}
