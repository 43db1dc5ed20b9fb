import HTTPTypes
import PushCore
import Store
import Testing

@testable import Console

/// What the database refuses comes with a remedy that people of the console have.
@Suite struct RefusalTests {
    private func version(_ browser: ConsoleBrowser, _ path: String) async throws -> String {
        let page = try await browser.get(path).text
        return page.firstMatch(of: /name="version" value="(\d+)"/).map { String($0.1) } ?? ""
    }

    @Test func remediesForCallersAreReplaced() {
        let refusals = RefusalWords(catalogue: .english)
        func words(_ state: String, _ hint: String) -> String {
            refusals.words(StoreError(.conflict, "It was refused.", hint: hint, sqlState: state))
        }
        for (state, remedy) in RefusalWords.remedies {
            #expect(words(state, "pushmta list shows it") == "It was refused. \(Catalogue.english[remedy])", "\(state)")
        }
        #expect(words("PM111", "load the page again") == "It was refused. Load the page again.")
        #expect(words("PM111", #"as in [{"percent": 5}]"#) == "It was refused.")
        #expect(words("PM180", "analyse it with pushmta") == Catalogue.english[.approvalFirst])
    }

    @Test func anExperimentNeedsRoomInMessageIDs() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let form = [
            "version": try await version(mia, "\(draft)/experiment"), "experiment.1.percent": "50",
            "experiment.2.percent": "50", "experiment.2.title": "Hi", "go": "next",
        ]
        _ = try await mia.post("\(draft)/experiment", form: form)
        try await site.sql("UPDATE pushmta_engine.application SET message_id_format = 'int32'")
        let refused = try await mia.get("\(draft)/start?when=now")
        #expect(refused.status == .conflict)
        let words = "The experiment of the delivery cannot be used: an application has int32 message ids"
        #expect(refused.text.contains(words) && refused.text.contains(Catalogue.english[.messageIDsRemedy]))
        await site.close()
    }

    @Test func aProofMayBeTooLarge() async throws {
        let site = try await ConsoleSite.start()
        let (mia, draft) = try await site.saleDraft()
        let subscription = try #require(Int64(try await site.value("SELECT min(id) FROM pushmta_engine.subscription")))
        try await site.admin.addSeed(
            NewSeed(name: "lab", application: "shop-ios", address: .subscription(subscription))
        )
        try await site.admin.setApprovalRule(service: "shop", above: 0)
        let form = ["version": try await version(mia, "\(draft)/send"), "seed.lab": "on"]
        let refused = try await mia.post("\(draft)/proof", form: form)
        #expect(refused.status == .conflict && refused.text.contains("goes to 1 people"), "\(refused.text)")
        #expect(refused.text.contains(Catalogue.english[.proofSmallerRemedy]))
        await site.close()
    }

    /// Somebody else was faster: the page shows what can be done now.
    @Test func whatCannotBeDoneAnyMoreIsSaidOnThePage() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        let refused = try await site.session(.operate).post("/deliveries/\(id)/start")
        #expect(refused.status == .conflict && refused.text.contains("it has its start already"), "\(refused.text)")
        #expect(refused.text.contains("id=\"delivery-state\""))
        await site.close()
    }
}
