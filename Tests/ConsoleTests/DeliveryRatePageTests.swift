import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The rate of a delivery that has its start is changed on its page.
@Suite struct DeliveryRatePageTests {
    @Test func whoMayPauseADeliveryChangesItsRate() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        let page = "/deliveries/\(id)"
        try await site.admin.setDeliveryRate(id, messagesPerSecond: 1)
        let browser = try await site.session(.operate)
        #expect(try await browser.get(page).text.contains("\(page)/rate"))
        #expect(try await browser.get("\(page)/rate").text.contains(#"value="1""#))
        for wrong in ["0", "much", "1.000"] {
            let refused = try await browser.post("\(page)/rate", form: ["rate": wrong])
            #expect(refused.status == .unprocessableContent, "\(wrong): \(refused.text)")
        }
        #expect(try await site.admin.rate(ofDelivery: id) == 1)
        let changed = try await browser.post("\(page)/rate", form: ["rate": "2,5"])
        #expect(changed.headers[.location] == "\(page)?done=rate", "\(changed.text)")
        #expect(try await site.admin.rate(ofDelivery: id) == 2.5)
        #expect(try await browser.get("\(page)?done=rate").text.contains("The rate of the delivery is set."))
        #expect(try await browser.post("\(page)/rate", form: ["rate": ""]).status == .seeOther)
        #expect(try await site.admin.rate(ofDelivery: id) == nil)
        // Once, under the name of the person.
        let log = """
            SELECT string_agg(concat_ws(' ', who, action, subject, detail), ', ' ORDER BY id) FROM pushmta_engine.audit_log
            WHERE action IN ('delivery.rate', 'rate.change', 'rate.remove')
            """
        let (set, lifted) = ("operate delivery.rate \(id) 2.5/s", "operate delivery.rate \(id) no limit")
        #expect(try await site.value(log) == "\(set), \(lifted)")
        // A delivery of somebody else.
        let mia = try await site.session(.marketing, name: "mia")
        #expect(try await !mia.get(page).text.contains("\(page)/rate"))
        #expect(try await mia.post("\(page)/rate", form: ["rate": "5"]).status == .forbidden)
        try await site.admin.stopDelivery(id)
        #expect(try await !browser.get(page).text.contains("\(page)/rate"))
        #expect(try await browser.get("\(page)/rate").text.contains("This cannot be done now."))
        #expect(try await browser.post("\(page)/rate", form: ["rate": "5"]).status == .unprocessableContent)
        await site.close()
    }

    @Test func theRateOfADeliveryThatFollowsASignalIsNotSet() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        let page = "/deliveries/\(id)"
        try await site.admin.setHealthSignal(HealthSignal(name: "load", kind: .http, source: "https://m.example"))
        try await site.admin.followSignal(id, "load", target: 0.8, floor: 5, ceiling: 200)
        let browser = try await site.session(.operate)
        let shown = try await browser.get("\(page)/rate").text
        #expect(shown.contains("health signal load") && shown.contains(#"href="\#(page)/follow""#), "\(shown)")
        #expect(!shown.contains(#"action="\#(page)/rate""#))
        #expect(try await browser.post("\(page)/rate", form: ["rate": "9"]).status == .unprocessableContent)
        // The floor, which stays after the end, is lifted.
        #expect(try await browser.post("\(page)/follow", form: ["signal": ""]).status == .seeOther)
        #expect(try await site.admin.rate(ofDelivery: id) == 5)
        #expect(try await browser.post("\(page)/rate", form: ["rate": ""]).status == .seeOther)
        #expect(try await site.admin.rate(ofDelivery: id) == nil)
        await site.close()
    }

    @Test func anotherRateEndsAnApproval() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        let browser = try await site.session(.operate)
        let form = "/deliveries/\(id)/rate"
        #expect(try await !browser.get(form).text.contains("ends its approval"))
        try await site.sql(
            """
            INSERT INTO pushmta_engine.approval (delivery_id, digest, messages, above, kind, name, person)
            VALUES (\(id), '', 7, 3, 'console', 'eve', 'user eve')
            """
        )
        #expect(try await browser.get(form).text.contains("Another rate ends its approval"))
        await site.close()
    }

    /// The draft that comes back says what was changed on the delivery's page.
    @Test func anEditedDeliveryKeepsItsRate() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        func version(_ path: String) async throws -> String {
            let words = try await mia.get(path).text.firstMatch(of: /name="version" value="(\d+)"/)
            return try #require(words.map { String($0.1) })
        }
        let form = ["version": try await version("\(draft)/send"), "at": "2036-01-02T03:04"]
        let started = try await mia.post("\(draft)/start", form: form)
        let words = started.headers[.location]?.firstMatch(of: /^\/deliveries\/(\d+)/)
        let id = try #require(words.map { String($0.1) }, "\(started.text)")
        #expect(try await mia.post("/deliveries/\(id)/rate", form: ["rate": "70"]).status == .seeOther)
        #expect(try await mia.post("/deliveries/\(id)/edit").headers[.location] == "\(draft)/send")
        #expect(try await mia.get("\(draft)/limits").text.contains(#"value="70""#))
        await site.close()
    }
}
