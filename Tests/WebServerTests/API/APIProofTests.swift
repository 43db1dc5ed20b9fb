import PushCore
import Store
import Testing

@testable import WebServer

/// Proofs through the API.
@Suite struct APIProofTests {
    private static let iosToken = String(repeating: "ab", count: 32)

    /// A site with a delivery to the iOS application and a seed address of each application.
    private func ready() async throws -> (site: APISite, delivery: Int64) {
        let site = try await APISite.start()
        let admin = site.web.admin
        try await admin.addSeed(
            NewSeed(name: "ada-phone", application: "shop-ios", address: .pushToken(Self.iosToken))
        )
        try await admin.addSeed(
            NewSeed(name: "ben-phone", application: "shop-android", address: .pushToken("token-of-ben-that-is-long"))
        )
        let delivery = try await admin.createDelivery(
            NewDelivery(label: "Sale", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        return (site, delivery)
    }

    @Test func aProofIsADeliveryOfItsOwn() async throws {
        let (site, id) = try await ready()
        let key = try await site.key(.writeDeliveries, .readDeliveries, name: "shop")
        let made = try await site.call("POST", "/deliveries/\(id)/proofs", key: key, #"{"seeds": ["ada-phone"]}"#)
        #expect(made.status == 201 && made["parentId"] == "\(id)" && made["label"] == "Proof: Sale", "\(made.answer)")
        let proof = made["id"] ?? ""
        #expect(made.headers["location"] == "/api/v1/deliveries/\(proof)" && made["state"] == "pending")
        // It goes to all seed addresses of its applications, and is not sent yet.
        let later = try await site.call("POST", "/deliveries/\(id)/proofs", key: key, #"{"start": false}"#)
        #expect(later.status == 201 && later["state"] == "editing", "\(later.answer)")
        #expect(
            try await site.web.value(
                "SELECT count(*) FROM pushmta.delivery_target t WHERE t.delivery_id = \(later["id"] ?? "0")"
            ) == "1"
        )
        let list = try await site.call("GET", "/deliveries/\(id)/proofs", key: key)
        #expect(list.count("deliveries") == 2 && list["deliveries.1.id"] == proof && list["next"] == "null")
        let page = try await site.call("GET", "/deliveries/\(id)/proofs?limit=1", key: key)
        #expect(page["deliveries.0.id"] == later["id"] && page["next"] == later["id"])
        let rest = try await site.call(
            "GET",
            "/deliveries/\(id)/proofs?limit=1&before=\(page["next"] ?? "")",
            key: key
        )
        #expect(rest["deliveries.0.id"] == proof)
        #expect(
            try await site.web.value(
                "SELECT count(*) FROM pushmta_engine.audit_log WHERE subject = '\(proof)' AND origin LIKE 'API key shop%'"
            ) != "0"
        )
        try await site.finish()
    }

    @Test func whatCannotBeProvedIsRefused() async throws {
        let (site, id) = try await ready()
        let key = try await site.key(.writeDeliveries, .readDeliveries)
        let one = try await site.key(.writeDeliveries, .readDeliveries, applications: ["shop-ios"])
        func prove(_ body: String, _ key: String) async throws -> APIExchange {
            try await site.call("POST", "/deliveries/\(id)/proofs", key: key, body)
        }
        #expect(try await prove(#"{"seeds": ["nobody"]}"#, key).status == 404)
        let elsewhere = try await prove(#"{"seeds": ["ben-phone"]}"#, key)
        #expect(elsewhere.status == 400 && elsewhere["detail"]?.contains("shop-android") == true)
        // A key for one application cannot see the seed addresses of others.
        #expect(try await prove(#"{"seeds": ["ben-phone"]}"#, one).status == 404)
        #expect(try await prove(#"{"deviceIds": [9223372036854775807]}"#, key).status == 400)
        let token = try await prove(#"{"pushTokens": ["secret-token-of-nobody-at-all"]}"#, key)
        #expect(token.status == 400 && !token.answer.body.contains("secret-token"), "\(token.answer)")
        for wrong in [
            #"{"seeds": []}"#, #"{"seeds": [7]}"#, #"{"deviceIds": ["7"]}"#, #"{"deviceIds": [0]}"#,
            #"{"deviceIds": [9223372036854775808]}"#, #"{"start": 1}"#, #"{"more": 1}"#,
        ] {
            #expect(try await prove(wrong, key).status == 400, "\(wrong)")
        }
        #expect(try await prove("{}", try await site.key(.readDeliveries)).status == 403)
        let other = try await site.key(.writeDeliveries, .readDeliveries, applications: ["shop-android"])
        #expect(try await prove("{}", other).status == 404)
        #expect(try await site.call("GET", "/deliveries/\(id)/proofs", key: other).status == 404)
        #expect(try await site.call("POST", "/deliveries/99/proofs", key: key, "{}").status == 404)
        #expect(try await site.web.value("SELECT count(*) FROM pushmta_engine.delivery") == "1")
        try await site.finish()
    }
}
