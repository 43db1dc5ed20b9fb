import PushCore
import Testing

@testable import WebServer

/// The whole path: a device registers, a delivery is created, and the device sends its receipt.
@Suite struct FirstTests {
    @Test func aDeviceRegistersAndTracks() async throws {
        let site = try await WebSite.start()
        let token = String(repeating: "ab", count: 32)
        let answer = try await site.registerIOS(
            "registrationToken=\(token)&mobileAppUuid=integrationKey&userKey=ada&deviceName=phone&osLanguage=en-US"
                + "&additionalParams=%3CadditionalParams%3E%3Cparam%20name%3D%22a%22%20value%3D%22b%22%20%2F%3E%3C%2FadditionalParams%3E"
        )
        #expect(answer.status == 200, "\(answer)")
        #expect(
            try await site.value(
                "SELECT application || ' ' || user_key || ' ' || (parameters->>'a') || ' ' || locale || ' ' || enabled FROM pushmta.subscription WHERE token_hash = sha256('\(token)')"
            ) == "shop-ios ada b en-US true"
        )
        let sent = try await site.send(messages: 3)
        #expect(try await site.get("/r/?id=h\(sent.uuid(2)),\(sent.hexDelivery),1").status == 200)
        #expect(try await site.get("/r/?id=h\(sent.uuid(2).uppercased()),\(sent.hexDelivery),2").status == 200)
        #expect(try await site.get("/r/?id=h\(sent.uuid(2)),\(sent.hexDelivery),2").status == 200)
        #expect(try await site.hits(sent.delivery) == ["2 1 true", "2 2 true", "2 2 false"])
        #expect(
            try await site.value(
                "SELECT string_agg(sequence || ' ' || received || ' ' || clicked, ',' ORDER BY sequence) FROM pushmta.message_status WHERE delivery_id = \(sent.delivery)"
            )?.hasPrefix("1 false false,2 true true,3 false false") == true
        )
        try await site.drain()
    }
}
