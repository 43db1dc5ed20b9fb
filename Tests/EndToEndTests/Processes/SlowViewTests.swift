import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A slow view of a target mapping delays only the deliveries that use it.
@Suite struct SlowViewTests {
    /// A site whose service has a mapping to people; finding each person takes some seconds.
    private func with(
        subscribers: Int64,
        seconds: Int,
        configure: (inout Settings) -> Void = { _ in },
        _ body: (DeliverySite) async throws -> Void
    ) async throws {
        // One child, so that other deliveries must pass in the same child.
        try await DeliverySite.with(subscribers: subscribers, children: 1, configure: configure) { site in
            try await run(
                site,
                """
                CREATE SCHEMA crm;
                CREATE TABLE crm.number (key text PRIMARY KEY, city text);
                INSERT INTO crm.number SELECT 'user-' || id, 'Lyon' FROM pushmta_engine.subscription;
                UPDATE pushmta_engine.subscription SET user_key = 'user-' || id;
                CREATE VIEW crm.person AS SELECT key, city FROM crm.number WHERE pg_sleep(\(seconds)) IS NOT NULL;
                GRANT USAGE ON SCHEMA crm TO pushmta_reader;
                GRANT SELECT ON crm.person TO pushmta_reader;
                """
            )
            // Adding the mapping checks once whether a key has several rows.
            try await run(
                site,
                """
                INSERT INTO pushmta_engine.target_mapping (name, label, view_name, key_column) VALUES ('people', '', 'crm.person', 'key')
                """
            )
            try await site.run("service", "set", site.audience.prefix, "--mapping", "people")
            try await body(site)
        }
    }

    private func run(_ site: DeliverySite, _ script: String) async throws {
        let connection = try await PostgresConnection.connect(StoreSession.configuration(site.settings, role: "test"))
        try await connection.run(script: script)
        await connection.close()
    }

    private func number(_ site: DeliverySite, _ sql: String) async throws -> Int64 {
        let connection = try await PostgresConnection.connect(StoreSession.configuration(site.settings, role: "test"))
        let result = try await connection.execute(PostgresStatement(sql, prepare: false))
        await connection.close()
        return try result.int64(0, 0)
    }

    private let content = #"{"ios":{"title":"In {{mapping.city}}"}}"#

    @Test func itDelaysItsDeliveriesOnlyAndTheySayWhy() async throws {
        try await with(subscribers: 200, seconds: 2) { site in
            // One delivery reads the view during preparation, the other during loading.
            let filtered = try await site.store.createDelivery(
                NewDelivery(label: "x", applications: [site.application], content: #"{"ios":{"title":"Hello"}}"#)
            )
            try await site.store.setTarget(ofDelivery: filtered, DeliveryTarget(filter: "mapping.city = 'Lyon'"))
            try await site.store.startDelivery(filtered)
            let mapped = try await site.send(content, to: site.application)
            _ = try await site.progress(mapped) { $0.partsClaimed > 0 }

            let plain = try await site.send(to: site.application)
            let sent = try await site.progress(plain)
            #expect(sent.state == .finished && sent.sent == 200)
            for id in [filtered, mapped] {
                let held = try await site.progress(id, within: .seconds(120)) { !$0.waitingReason.isEmpty }
                #expect(
                    held.waitingReason.contains(
                        #"the view crm.person of target mapping "people" does not answer in time"#
                    )
                )
                #expect(!held.state.isFinal && held.sent == 0 && held.failed == 0 && held.stateReason.isEmpty)
            }
            let status = try await site.run("status", "--json").output
            let why =
                "which is tried again at least once a minute until its validity is over: the view crm.person of target mapping"
            #expect(status.contains("delivery \(filtered)") && status.contains("it cannot be prepared now, \(why)"))
            #expect(
                status.contains("delivery \(mapped)")
                    && status.contains("200 of its messages cannot be loaded or sent now, \(why)")
            )
            let again = try await site.progress(try await site.send(to: site.application))
            #expect(again.state == .finished && again.sent == 200)

            try await run(site, "CREATE OR REPLACE VIEW crm.person AS SELECT key, city FROM crm.number")
            for id in [filtered, mapped] {
                let done = try await site.progress(id, within: .seconds(150))
                #expect(done.state == .finished && done.sent == 200 && done.waitingReason.isEmpty)
                #expect(done.resentAfterAmbiguity == 0 && done.lateOutcomes == 0)
            }
            #expect(try await site.testSite.counters(site.simulator).accepted == 800, "nothing is sent twice")
        }
    }

    @Test func aPartStaysWithWhoLoadsItUntilItsDeliveryIsPausedOrStopped() async throws {
        let configure: (inout Settings) -> Void = { settings in
            // No load in this test finishes.
            settings.mta.lease.durationSec = 3_600
            settings.mta.lease.renewalSec = 1
        }
        try await with(subscribers: 20, seconds: 600, configure: configure) { site in
            let mapped = try await site.send(content, to: site.application)
            try await site.wait("a renewal") {
                try await number(
                    site,
                    """
                    SELECT count(*) FROM pushmta_engine.delivery_part
                    WHERE delivery_id = \(mapped) AND state = 'claimed' AND fencing_token = 1 AND renewal > 2
                    """
                ) > 0
            }
            try await site.store.pauseDelivery(mapped)
            let paused = try await site.progress(mapped) { $0.partsClaimed == 0 }
            #expect(paused.state == .paused && paused.sent == 0 && paused.pending == 20)
            try await site.store.resumeDelivery(mapped)
            _ = try await site.progress(mapped) { $0.partsClaimed > 0 }
            try await site.store.stopDelivery(mapped)
            let stopped = try await site.progress(mapped) { $0.state.isFinal && $0.pending == 0 }
            #expect(stopped.state == .stopped && stopped.canceled == 20 && stopped.sent == 0)
            // The child that was held up continues.
            let plain = try await site.progress(try await site.send(to: site.application))
            #expect(plain.state == .finished && plain.sent == 20)
            #expect(try await number(site, "SELECT count(*) FROM pushmta_engine.mta_child") == 1)
        }
    }
}
