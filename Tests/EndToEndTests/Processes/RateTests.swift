import Foundation
import PostgresClient
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import Store
@testable import pushmta

/// A limit of messages a second, as an operator sets it.
@Suite(.serialized) struct RateTests {
    private static let messages: Int64 = 400

    @Test func aLimitedDeliveryGoesNoFasterAndOthersPass() async throws {
        try await DeliverySite.with(subscribers: Self.messages) { site in
            let created = try await site.run(
                "delivery",
                "create",
                "--label",
                "slow",
                "--app",
                site.application,
                "--content",
                #"{"ios":{"title":"a"}}"#,
                "--rate",
                "40",
                "--start"
            )
            let slow = try #require(Int64(created.output.trimmingCharacters(in: .whitespacesAndNewlines)))
            _ = try await site.progress(slow) { $0.sent >= 40 }
            let list = try await site.run("rate", "list", "--json")
            #expect(list.output.contains(#""scope":"delivery""#), "\(list.output)")
            // Another delivery of the same application is not held up.
            let other = try await site.send(to: site.application)
            let done = try await site.progress(other)
            #expect(done.sent == Self.messages)
            let waiting = try await site.store.deliveryProgress(slow)
            #expect(waiting.sent < Self.messages, "the limited one is under way: \(waiting.sent)")
            // Without its limit the delivery ends soon, and each message was sent once.
            try await site.run("delivery", "rate", String(slow), "none")
            let ended = try await site.progress(slow)
            #expect(ended.sent == Self.messages)
            let count = try await site.testSite.counters(site.simulator)
            #expect(count.accepted == 2 * Self.messages && count.duplicates == 0)
            for wrong in ["0", "-1", "fast", "1e7"] {
                try await site.run("delivery", "rate", "--", String(slow), wrong, expect: 64)
            }
            try await site.run("rate", "set", "application", "nobody", "5", expect: 65)
        }
    }

    @Test func anApplicationsLimitHoldsForAllOfItsDeliveries() async throws {
        try await DeliverySite.with(subscribers: 60) { site in
            try await site.run("rate", "set", "application", site.application, "30")
            let ids = [try await site.send(to: site.application), try await site.send(to: site.application)]
            for id in ids { #expect(try await site.progress(id).sent == 60) }
            // All sent messages were granted, and the timeline of the limit has advanced by the time they take at the
            // rate.
            let row = try #require(try await site.store.rateLimitRows(limit: 1).first)
            #expect(row.scope == "application" && row.granted >= 120)
            let seconds = try await site.store.query(
                """
                SELECT extract(epoch FROM next_at - changed_at)::double precision FROM pushmta_engine.rate_limit
                """
            )
            #expect(try seconds.double(0, 0) >= 120.0 / 30)
        }
    }
}
