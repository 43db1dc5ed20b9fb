import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Frequency caps of a service, set by operators and shown to everyone.
@Suite struct FrequencyCapPageTests {
    @Test func anOperatorAddsChangesAndRemovesACap() async throws {
        let site = try await ConsoleSite.start()
        let oda = try await site.session(.operate, name: "oda")
        let list = "/services/caps?service=shop"
        #expect(try await oda.get("/services").text.contains("/services/caps"))
        #expect(try await oda.get(list).text.contains("The service has no frequency caps."))
        let new = "/services/caps/new?service=shop"
        #expect(try await oda.get(new).text.contains("Category news"))
        let form = [
            "name": "week", "max_messages": "3", "length": "7", "per": "days", "category.news": "yes",
            "category.marketing": "yes",
        ]
        let added = try await oda.post(new, form: form)
        #expect(added.headers[.location] == "\(list)&done=set", "\(added.text)")
        let shown = try await oda.get("\(list)&done=set").text
        #expect(shown.contains("At most 3 messages of marketing, news per person in 7 days"), "\(shown)")
        #expect(shown.contains("The frequency cap is saved."))
        // Another one of that name would replace it unseen.
        #expect(try await oda.post(new, form: form).status == .unprocessableContent)
        for (name, value) in [("max_messages", "0"), ("max_messages", "many"), ("length", "181"), ("name", " ")] {
            var wrong = form
            wrong["name"] = "other"
            wrong[name] = value
            let refused = try await oda.post(new, form: wrong)
            #expect(refused.status == .unprocessableContent, "\(name) \(value): \(refused.text)")
        }
        let change = "/services/caps/change?service=shop&name=week"
        #expect(try await oda.get(change).text.contains("value=\"7\""))
        let changed = ["max_messages": "1", "length": "1", "per": "recipient_day"]
        #expect(try await oda.post(change, form: changed).status == .seeOther)
        let words =
            "At most 1 message of all categories that are not transactional per person on the day of the recipient"
        #expect(try await oda.get(list).text.contains(words))
        let reader = try await site.session(.read, name: "rea")
        let read = try await reader.get(list).text
        #expect(read.contains(words) && !read.contains("/services/caps/new"))
        let remove = "/services/caps/remove?service=shop&name=week"
        #expect(try await oda.get(remove).text.contains("Remove this frequency cap?"))
        #expect(try await oda.post(remove).headers[.location] == "\(list)&done=remove")
        #expect(try await oda.get(change).status == .notFound)
        #expect(try await site.admin.frequencyCaps().isEmpty)
        let audit = try await site.session(.admin).get("/audit").text
        #expect(audit.contains("set a frequency cap") && audit.contains("removed a frequency cap"))
        // Each change once, under the name of its user.
        let logged = "SELECT string_agg(who || ' ' || action, ', ' ORDER BY id) FROM pushmta_engine.audit_log"
        #expect(
            try await site.value("\(logged) WHERE action LIKE 'cap.%'") == "oda cap.set, oda cap.set, oda cap.drop"
        )
        await site.close()
    }
}
