import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The approval rule of a service, set by administrators and shown to everyone.
@Suite struct ApprovalRulePageTests {
    @Test func anAdministratorSetsTheRuleOfAService() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.admin, name: "ada")
        let reader = try await site.session(.read, name: "rea")
        let path = "/services/approval?service=shop"
        #expect(try await reader.get("/services").text.contains(path))
        #expect(try await reader.get(path).text.contains("Deliveries of this service need no approval."))
        let set = try await ada.post(path, form: ["above": "10000"])
        #expect(set.headers[.location] == "/services?done=approval", "\(set.text)")
        #expect(try await ada.get("/services?done=approval").text.contains("The approval rule is saved."))
        let shown = try await reader.get(path).text
        #expect(shown.contains("above this number of messages: 10,000.") && !shown.contains("name=\"above\""))
        #expect(try await ada.get(path).text.contains("value=\"10000\""))
        for wrong in ["1,000", "1.5", "-1", "+1", "many", "1234567890123"] {
            let refused = try await ada.post(path, form: ["above": wrong])
            #expect(refused.status == .unprocessableContent && refused.text.contains("Give a whole number"), "\(wrong)")
        }
        let operate = try await site.session(.operate)
        #expect(try await operate.post(path, form: ["above": "5"]).status == .forbidden)
        #expect(try await site.admin.approvalRules().map(\.above) == [10_000])
        #expect(try await ada.post(path, form: ["above": ""]).status == .seeOther)
        #expect(try await site.admin.approvalRules().isEmpty)
        #expect(try await ada.get("/services/approval?service=none").status == .notFound)
        // Each change once, under the name of its user.
        let logged = "SELECT string_agg(who || ' ' || detail, ', ' ORDER BY id) FROM pushmta_engine.audit_log"
        #expect(
            try await site.value("\(logged) WHERE action = 'service.approval'") == "ada 10000, ada none"
        )
        await site.close()
    }
}
