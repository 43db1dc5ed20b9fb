import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// An administrator who locks the queue and leaves the transaction open is named. Afterwards everything continues.
@Suite struct LockedTableTests {
    @Test func whoLocksTheQueueIsNamed() async throws {
        try await DeliverySite.with(subscribers: 4_000, children: 1) { site in
            try await site.slowDown(streams: 10, milliseconds: 20)
            let delivery = try await site.send(to: site.application)
            _ = try await site.progress(delivery) { $0.sent > 0 }
            let holder = try await PostgresConnection.connect(StoreSession.configuration(site.settings, role: "test"))
            try await holder.run(
                script: """
                    BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET application_name = 'maintenance';
                    LOCK TABLE pushmta_engine.broad_log, pushmta_engine.delivery_part
                    """
            )
            try await eventually("status names the session as an alarm", within: .seconds(60)) {
                let status = try await site.run("status").output
                return status.contains("lock_held") && status.contains("maintenance")
            }
            let status = try await site.run("status").output
            #expect(status.contains("deliveries: not readable: session"), "\(status)")
            #expect(!status.contains("hosts: not readable"), "\(status)")
            try await holder.run(script: "COMMIT")
            await holder.close()
            try await site.slowDown(streams: 1_000, milliseconds: 0)
            let done = try await site.progress(delivery)
            #expect(done.state == .finished && done.sent == 4_000 && done.failed == 0)
        }
    }

    @Test func aPauseThatIsNotCommittedHoldsItsOwnDeliveryOnly() async throws {
        try await DeliverySite.with(subscribers: 3_000, children: 1) { site in
            try await site.slowDown(streams: 10, milliseconds: 20)
            let held = try await site.send(to: site.application)
            _ = try await site.progress(held) { $0.sent > 0 }
            let holder = try await PostgresConnection.connect(StoreSession.configuration(site.settings, role: "test"))
            try await holder.run(
                script: """
                    BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0;
                    SELECT FROM pushmta_engine.delivery WHERE id = \(held) FOR UPDATE
                    """
            )
            try await site.slowDown(streams: 1_000, milliseconds: 0)
            let other = try await site.progress(try await site.send(to: site.application))
            #expect(other.state == .finished && other.sent == 3_000)
            #expect(try await site.store.deliveryProgress(held).state == .inProgress)
            try await holder.run(script: "COMMIT")
            await holder.close()
            let done = try await site.progress(held)
            #expect(done.state == .finished && done.sent == 3_000 && done.failed == 0 && done.resentAfterAmbiguity == 0)
        }
    }
}
