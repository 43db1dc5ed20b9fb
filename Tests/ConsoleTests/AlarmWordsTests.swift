import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Alarms in the words of the console: sentences, with remedies that its people have.
@Suite struct AlarmWordsTests {
    private let words = AlarmWords(catalogue: .english)

    private func alarm(_ code: String, _ remedy: String) -> AlarmRow {
        AlarmRow(severity: .warning, code: code, subjectKind: "delivery", subject: "9", text: "x", remedy: remedy)
    }

    @Test func remediesForCommandLinesAreReplacedWhereAPageHasTheButton() {
        for (code, remedy) in AlarmWords.remedies {
            let found = words.remedy(alarm(code, "stop it with pushmta delivery stop 9"))
            #expect(found?.words == Catalogue.english[remedy] && found?.isOwn == true, "\(code)")
        }
        let command = words.remedy(alarm("host_gone", "look at that host: pushmta host remove 7"))
        #expect(command?.words == "Look at that host: pushmta host remove 7" && command?.isOwn == false)
        #expect(words.remedy(alarm("delivery_waiting", ""))?.words == nil)
        // Not every circuit is opened by refused tokens.
        let unreachable = words.remedy(alarm("circuit_open", "check host and port"))
        #expect(unreachable?.words == "Check host and port." && unreachable?.isOwn == false)
    }

    @Test(
        arguments: [
            ("it is held: no approval", "It is held: no approval."), ("Done.", "Done."),
            ("APNs says no", "APNs says no."),
            ("iOS is away", "iOS is away."), ("pushmta status says why", "pushmta status says why"), ("", ""),
            ("it is paused. Why", "It is paused. Why."),
        ]
    )
    func fragmentsBecomeSentences(fragment: String, sentence: String) {
        #expect(fragment.asSentence == sentence)
    }

    @Test func anAlarmLeadsToItsDelivery() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET state = 'paused', state_reason = 'The gateway refuses it' WHERE id = \(id)"
        )
        let reader = try await site.session(.read)
        for page in ["/", "/alarms"] {
            let text = try await reader.get(page).text
            #expect(text.contains(#"<a href="/deliveries/\#(id)"><bdi>delivery \#(id)"#), "\(text)")
            #expect(text.contains("It is paused. The gateway refuses it.") && text.contains("resume or stop it there."))
            #expect(!text.contains("pushmta delivery resume"))
        }
        await site.close()
    }

    /// The database raises the alarm of a given up recall with a remedy of its own.
    @Test func aRecallIsDoneAgain() async throws {
        let site = try await ConsoleSite.start()
        let id = try await site.delivery()
        try await site.admin.recallDelivery(id, reason: "r", mode: .remove)
        let child = try #require(try await site.admin.recallReport(ofDelivery: id)?.child)
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'stopped', state_reason = 'x', finished_at = now() WHERE id = \(child)
            """
        )
        let alarm = try #require(try await site.admin.alarms(delivery: child).first { $0.code == AlarmWords.returned })
        #expect(words.remedy(alarm)?.words == Catalogue.english[.alarmRecallRemedy], "\(alarm)")
        await site.close()
    }
}
