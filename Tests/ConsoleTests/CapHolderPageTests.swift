import Foundation
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// A delivery that a frequency cap leaves nobody for.
@Suite struct CapHolderPageTests {
    private func analysed(_ site: ConsoleSite, _ label: String) async throws -> Int64 {
        let id = try await site.admin.createDelivery(
            NewDelivery(label: label, applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.admin.analyzeDelivery(id)
        let job = try #require(try await site.admin.claimDeliveriesToPrepare(host: "a").first)
        while try await !site.admin.prepareChunk(job).done {}
        _ = try await site.admin.endAnalysis(of: job, AnalysisFindings())
        return id
    }

    @Test func itsAnalysisNamesTheDeliveriesThatHoldIt() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(12)
        try await site.sql(
            """
            INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'c', 'k', 'x');
            UPDATE pushmta_engine.application SET credential_id = (SELECT max(id) FROM pushmta_engine.credential)
            """
        )
        try await site.admin.setFrequencyCap(
            FrequencyCapRow(service: "shop", name: "week", maxMessages: 1, unit: .days, length: 7)
        )
        let first = try await analysed(site, "Spring <sale>")
        let id = try await analysed(site, "Summer sale")
        let mia = try await site.session(.marketing, name: "mia")
        let page = try await mia.get("/deliveries/\(id)").text
        for words in [
            "week: ", #"<td class="right number">12</td>"#, "held by deliveries that have not been sent",
            #"<a href="/deliveries/\#(first)"><bdi>Spring &lt;sale&gt;</bdi></a>"#, "12 messages · week",
            "take them back to editing",
        ] {
            #expect(page.contains(words), "\(words): \(page)")
        }
        #expect(try await !mia.get("/deliveries/\(first)").text.contains("held by deliveries"))
        let question = try await mia.get("/deliveries/\(id)/start").text
        #expect(question.contains("nobody would get this delivery"), "\(question)")
        #expect(try await mia.get("/deliveries/\(first)/start").text.contains("12 messages are prepared."))
        try await site.admin.rescheduleDelivery(first, to: nil)
        let later = try await mia.get("/deliveries/\(id)").text
        #expect(!later.contains("held by deliveries") && later.contains("week: "))
        await site.close()
    }
}
