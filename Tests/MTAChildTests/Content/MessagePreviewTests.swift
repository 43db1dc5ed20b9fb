import Gateways
import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// A preview shows what a child would hand to its gateway, byte for byte.
@Suite struct MessagePreviewTests {
    /// The binary protocol has no collapse ids.
    private static func content(_ format: PayloadFormat) -> String {
        let collapseID = format == .apnsBinary ? "" : #", "collapse_id": "{{firstName}}""#
        return """
            {"ios": {"title": "Hello {{firstName}}", "priority": 5, "expiration_seconds": 60\(collapseID)},
            "android": {"title": "Hello {{firstName}}"}, "locales": {"fr": {"ios": {"title": "Bonjour {{firstName}}"}}}}
            """
    }

    private func previewer(
        _ format: PayloadFormat,
        _ registry: GatewayRegistry = .standard
    ) throws -> (MessagePreviewer, CompiledDelivery) {
        let sending = SendingDelivery(
            id: 16,
            label: "",
            content: Self.content(format),
            state: .editing,
            trackingKey: Array(0..<16),
            messageIDBase: nil,
            validUntil: nil,
            ambiguityPolicy: .resend,
            maxRetries: 0,
            logDay: LogDay(daysSince2000: 9_800),
            hasVariables: false
        )
        let (connector, credential): (Connector, CredentialKind) =
            switch format {
            case .apns: (.iosHTTP2, .apnsKey)
            case .apnsBinary: (.iosBinary, .apnsCertificate)
            case .fcmV1: (.androidV2, .fcmServiceAccount)
            case .fcmLegacy: (.androidV2, .fcmProjectKey)
            }
        let account = AccountRow(
            id: 1,
            name: "a",
            connector: connector,
            host: "gateway.example",
            port: 443,
            options: "{}",
            active: true
        )
        let application = ContentFixture.application(format.platform)
        let delivery = try CompiledDelivery(sending, application: application, format: format)
        let previewer = MessagePreviewer(
            delivery,
            application: application,
            account: account,
            credential: credential,
            registry: registry
        )
        return (previewer, delivery)
    }

    /// Of two gateways that take the same payloads, a child chooses the one that serves connector and credential.
    @Test func theGatewayIsTheOneThatAChildChooses() throws {
        let registry = GatewayRegistry([LineKind() as any GatewayKind] + GatewayRegistry.standard.kinds)
        let (previewer, delivery) = try previewer(.fcmLegacy, registry)
        let loaded = ContentFixture.loaded(delivery, locales: ["en"], ["firstName": ["Ada"]])
        let preview = try #require(previewer.preview(loaded, now: 0))
        // The line serves android-v1 only, and this account speaks android-v2.
        #expect(preview.headers.contains(ShownField(":path", "/fcm/send")))
    }

    @Test(arguments: [PayloadFormat.apns, .apnsBinary, .fcmV1, .fcmLegacy], ["en", "fr"])
    func itIsWhatGoesOut(_ format: PayloadFormat, _ locale: String) throws {
        let (previewer, delivery) = try previewer(format)
        let loaded = ContentFixture.loaded(delivery, locales: [locale], ["firstName": ["Zoë \"Z\""]])
        let preview = try #require(previewer.preview(loaded, now: 1_000))
        var renderer = SliceRenderer(delivery: delivery, loaded: loaded)
        let sent = try #require(renderer.render([0], newBatchID: { 1 }).batches.first).batch
        #expect(preview.payload == Array(sent.bodies[0]) && preview.problem == nil)
        #expect(preview.size <= preview.payload.count && preview.size < preview.limit)
        #expect(preview.locale == (locale == "fr" && format.platform == .ios ? "fr" : ""))
        let headers = Dictionary(uniqueKeysWithValues: preview.headers.map { ($0.name, $0.value) })
        if format == .apnsBinary {
            #expect(headers["priority"] == "5" && headers["device token"] == "5a5a0")
            #expect(headers["expiration"] == "1060")
        }
        guard format == .apns else { return }
        #expect(headers[":path"] == "/3/device/5a5a0" && headers["apns-topic"] == "com.example.app")
        #expect(headers["apns-push-type"] == "alert")
        // A locale's variant inherits what it does not set from the main content.
        #expect(headers["apns-priority"] == "5")
        #expect(headers["apns-expiration"] == "1060")
        #expect(headers["apns-collapse-id"] == "Zoë \"Z\"")
        #expect(headers["authorization"] == nil)
    }

    /// The shown collapse id is what is sent: a hash if the id is long, and none if nothing is left of it.
    @Test(arguments: [("Paris ", "Paris"), (" \r\n", nil), (nil, nil)] as [(String?, String?)])
    func collapseIDs(_ value: String?, _ id: String?) throws {
        let (previewer, delivery) = try previewer(.apns)
        func header(_ value: String?) throws -> [String] {
            let loaded = ContentFixture.loaded(delivery, locales: ["en"], ["firstName": [value]])
            let preview = try #require(previewer.preview(loaded, now: 1_000))
            #expect(preview.problem == nil)
            return preview.headers.filter { $0.name == "apns-collapse-id" }.map(\.value)
        }
        #expect(try header(value) == (id.map { [$0] } ?? []))
        let hash = try header(String(repeating: "x", count: 65))
        #expect(hash.map(\.count) == [64] && hash[0].allSatisfy(\.isHexDigit))
    }

    @Test func itSaysWhyNothingWouldGoOut() throws {
        let (previewer, delivery) = try previewer(.apns)
        let long = String(repeating: "x", count: 5_000)
        var loaded = ContentFixture.loaded(delivery, locales: ["fr"], ["firstName": [long]])
        let preview = try #require(previewer.preview(loaded, now: 0))
        #expect(preview.problem?.hasPrefix("PayloadTooLarge") == true && preview.size > preview.limit)
        #expect(String(decoding: preview.payload, as: UTF8.self).contains(long))
        loaded.decisions = [.optedOut]
        #expect(previewer.preview(loaded, now: 0)?.problem == "opted_out")
        #expect(previewer.preview(LoadedPart(), now: 0) == nil)
    }
}
