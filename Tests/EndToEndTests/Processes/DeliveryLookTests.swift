import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory

/// What a marketing system asks about a delivery in SQL, and a supervisor answers.
@Suite struct DeliveryLookTests {
    @Test func itSeesWhatThePhoneGetsAndHowManyGetIt() async throws {
        try await DeliverySite.with(subscribers: 3, children: 1) { site in
            let id = try await site.store.createDelivery(
                NewDelivery(
                    label: "Sale",
                    applications: [site.application],
                    content: #"{"ios":{"title":"Hello {{nickname|you}}"}}"#
                )
            )
            let connection = try await PostgresConnection.connect(
                StoreSession.configuration(site.settings, role: "test")
            )
            func value(_ sql: String) async throws -> String {
                try await connection.execute(PostgresStatement(sql, prepare: false)).text(0, 0)
            }
            let (first, token) = (
                try await value("SELECT min(id)::text FROM pushmta_engine.subscription"),
                try await value("SELECT push_token FROM pushmta_engine.subscription ORDER BY id LIMIT 1")
            )
            let preview = """
                SELECT concat_ws(' ', state, payload, headers, bytes, max_bytes, problem) FROM pushmta.preview_message(\(id), \(first))
                """
            try await site.wait { try await value(preview).hasPrefix("answered") }
            let shown = try await value(preview)
            #expect(shown.contains("Hello you") && shown.contains("apns-topic") && shown.contains("4096"), "\(shown)")
            #expect(!shown.contains(token) && shown.contains("(push token)"), "\(shown)")
            try await connection.run(
                script: """
                    SELECT pushmta.set_experiment(\(id), '[{"percent": 50}, {"percent": 50, "content": {"ios": {"title": "Second"}}}]')
                    """
            )
            let second = preview.replacing("\(first))", with: "\(first), 2)")
            try await site.wait { try await value(second).hasPrefix("answered") }
            #expect(try await value(second).contains("Second"))
            let printed = try await site.run(
                "delivery",
                "preview",
                "\(id)",
                "--subscription",
                first,
                "--variant",
                "2",
                "--json"
            )
            #expect(printed.output.contains("Second"), "\(printed.output)")
            let count = "SELECT concat_ws(' ', state, application, messages) FROM pushmta.count_target(\(id))"
            try await site.wait { try await value(count).hasPrefix("answered") }
            #expect(try await value(count) == "answered \(site.application) 3")
            let table = try await site.run("delivery", "count", "\(id)", "--json").rows()
            #expect(table.first?["messages"] as? Int == 3 && table.first?["estimate"] as? Bool == false, "\(table)")
            await connection.close()
        }
    }
}
