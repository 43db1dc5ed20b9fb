import Foundation
import Gateways
import PushCore
import Store
import Testing

@testable import MTAChild

@Suite struct DeclaredVariableTests {
    private func payloads(_ content: String, _ format: PayloadFormat, locales: [String?]) throws -> [[String: Any]] {
        let plain = ContentFixture.application(format.platform)
        let application = ApplicationRow(
            id: plain.id,
            serviceID: plain.serviceID,
            name: plain.name,
            label: plain.label,
            platform: plain.platform,
            environment: plain.environment,
            integrationKey: plain.integrationKey,
            bundleID: plain.bundleID,
            messageIDFormat: plain.messageIDFormat,
            accountID: plain.accountID,
            credentialID: plain.credentialID,
            variables:
                #"[{"name": "screen", "type": "text", "default": "home"}, {"name": "count", "type": "integer", "default": "3"}]"#
        )
        let delivery = SendingDelivery(
            id: 16,
            label: "test",
            content: content,
            state: .inProgress,
            trackingKey: Array(0..<16),
            messageIDBase: nil,
            validUntil: nil,
            ambiguityPolicy: .resend,
            maxRetries: 3,
            logDay: LogDay(daysSince2000: 9_800),
            hasVariables: false
        )
        let compiled = try CompiledDelivery(delivery, application: application, format: format)
        let loaded = ContentFixture.loaded(compiled, locales: locales)
        var renderer = SliceRenderer(delivery: compiled, loaded: loaded)
        let batches = renderer.render(locales.indices.map(Int32.init)[...], newBatchID: { 1 }).batches
        return try batches.flatMap { batch in
            let bodies = batch.batch.bodies
            return try (0..<bodies.count).map { row in
                let body = Data(bodies.bytes[bodies.range(row)])
                return try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
            }
        }
    }

    @Test("A variable that the content omits is sent with its declared default, and one that it sets in every locale")
    func defaults() throws {
        let content = #"""
            {"ios": {"title": "a", "variables": {"screen": "cart"}}, "locales": {"fr": {"ios": {"title": "b"}}},
             "android": {"title": "a", "variables": {"count": 7}}}
            """#
        let ios = try payloads(content, .apns, locales: ["en", "fr"])
        #expect(ios.compactMap { $0["screen"] as? String } == ["cart", "cart"])
        #expect(ios.allSatisfy { $0["count"] as? Int == 3 })
        let message = try #require(try payloads(content, .fcmV1, locales: [nil]).first?["message"] as? [String: Any])
        let data = try #require((message["data"] ?? (message["android"] as? [String: Any])?["data"]) as? [String: Any])
        #expect(data["screen"] as? String == "home" && data["count"] as? String == "7")
    }
}
