import TestSupport
import Testing

@testable import Console
@testable import Store

/// What limits the speed of a delivery, in the words of the console.
@Suite struct LimitTablesTests {
    private static func row(_ subject: String, _ limit: String, _ now: String, _ maximum: String = "", why: String = "")
        -> LimitRow
    {
        LimitRow(
            subject: subject,
            limit: limit,
            now: now,
            maximum: maximum,
            setBy: "",
            binds: true,
            why: why
        )
    }

    @Test func aLineHasThePresentValue() {
        let lines = [
            Self.row("delivery 32", "messages a second", "5.0", "200.0"),
            Self.row("delivery 32", "signal load", "0.83"),
            Self.row("sample-ios over sample-ios", "circuit", "open"),
            Self.row("shop-ios over apns", "account", "not active"), Self.row("delivery 32", "state", "paused"),
            Self.row("child 1 on push-1", "dispatch window", "400", "400"),
        ].map { LimitTables.line($0, .english) }
        #expect(
            lines == [
                "messages a second 5.0", "health signal load 0.83", "sample-ios: circuit open",
                "shop-ios over apns: account not active", "its state", "child 1 on push-1: dispatch window 400",
            ]
        )
    }

    @Test func theRateThatBindsDecidesTheTimeLeft() {
        let own = Self.row("delivery 1", "messages a second", "2.0")
        #expect(LimitTables.rate([Self.row("delivery 1", "weight", "1"), own]) == 2)
        #expect(LimitTables.rate([Self.row("shop-ios over apns", "messages a second", "9")]) == nil)
    }

    @Test func noReasonNamesACommand() {
        let why = "all were refused; check the environment; if the tokens really are bad, run pushmta app resume"
        let row = Self.row("shop-ios over apns", "circuit", "open", why: why)
        #expect(LimitTables.why(row) == "all were refused; check the environment")
    }

    @Test func nobodyKnowsWhenMessagesLeaveThatAreHeldBack() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(7)
        let id = try await site.delivery()
        while let job = try await site.admin.claimDeliveriesToPrepare(host: "a").first {
            while try await !site.admin.prepareChunk(job).done {}
        }
        func left() async throws -> String? {
            let facts = try await DeliveryFacts.read(site.admin, id, daysBelow: .max)
            return DeliveryView(facts: facts, rate: 5, isLater: false, catalogue: .english, meanings: { _ in nil })
                .timeLeft(5)
        }
        #expect(try await left() == "about 1.4 s")
        try await site.sql(
            """
            INSERT INTO pushmta_engine.application_health (application_id, state, reason, opened_at)
            SELECT id, 'open', 'refused', now() FROM pushmta_engine.application
            """
        )
        #expect(try await left() == Catalogue.english[.factLeftHeld])
        await site.close()
    }
}
