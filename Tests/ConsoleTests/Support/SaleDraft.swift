import HTTPTypes
import Store
import Testing

extension ConsoleSite {
    /// A draft of a template that could be started, and its author's browser.
    func saleDraft(subscribers: Int = 7, content: String = #"{"ios": {"title": "Hello"}}"#) async throws
        -> (mia: ConsoleBrowser, draft: String)
    {
        try await sql(
            """
            INSERT INTO pushmta_engine.credential (kind, name, seal_key_id, sealed) VALUES ('apns_key', 'c', 'k', 'x');
            UPDATE pushmta_engine.application SET credential_id = (SELECT max(id) FROM pushmta_engine.credential);
            INSERT INTO pushmta_engine.subscription (application_id, push_token)
                SELECT a.id, lpad(n::text, 64, 'a') FROM pushmta_engine.application a, generate_series(1, \(subscribers)) n
            """
        )
        try await admin.addTemplate(
            name: "sale",
            label: "",
            content: content,
            settings: "{}",
            target: TemplateTarget(applications: ["shop-ios"])
        )
        let mia = try await session(.marketing, name: "mia")
        let begun = try await mia.post("/compose", form: ["label": "Sale", "template": "sale"])
        return (mia, try #require(begun.headers[.location]).replacing("/applications", with: ""))
    }
}
