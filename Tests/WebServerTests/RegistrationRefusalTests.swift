import PushCore
import Testing

@testable import WebServer

/// Each invalid request gets its own answer, and stores nothing.
@Suite struct RegistrationRefusalTests {
    @Test func everyWrongRequestHasItsAnswer() async throws {
        let site = try await WebSite.start()
        let good = "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey&userKey=u"
        let cases: [(body: String, status: Int, words: String)] = [
            ("registrationToken=70757368546f6b656e&mobileAppUuid=nobody", 404, "Unknown integration key"),
            // The other platform's key.
            ("registrationToken=70757368546f6b656e&mobileAppUuid=testIntegrationKey", 404, "Unknown integration key"),
            ("mobileAppUuid=integrationKey&userKey=u", 400, "registrationToken is missing"),
            ("registrationToken=&mobileAppUuid=integrationKey", 400, "registrationToken is missing"),
            ("registrationToken=70757368546f6b656e", 400, "mobileAppUuid is missing"),
            ("", 400, "mobileAppUuid is missing"),
            ("registrationToken=nothex&mobileAppUuid=integrationKey", 422, "not an APNs token"),
            ("registrationToken=70757368546f6b656&mobileAppUuid=integrationKey", 422, "not an APNs token"),
            (good + "&deviceName=%FF%FE", 415, "deviceName is not UTF-8"),
            (good + "&deviceName=%4", 400, "% without two hexadecimal digits"),
            (good + "&deviceName=a%00b", 400, "U+0000"),
            (good + "&additionalParams=%3Cparams%3E", 400, "additionalParams is malformed"),
            (
                good + "&additionalParams=%3CadditionalParams%3E%26%3C%2FadditionalParams%3E", 400,
                "malformed at byte 18"
            ),
            (good + "&userKey=" + String(repeating: "k", count: 1_001), 400, "userKey is longer than 1000 bytes"),
            (good + "&" + (0..<300).map { "p\($0)=1" }.joined(separator: "&"), 400, "more than 200 parameters"),
            (String(repeating: "x", count: 65 << 10), 413, "larger than 64 KiB"),
        ]
        for (body, status, words) in cases {
            let answer = try await site.registerIOS(body)
            #expect(answer.status == status, "\(body.prefix(100)): \(answer)")
            #expect(answer.body.contains(words), "\(body.prefix(100)): \(answer)")
            #expect(answer.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(answer.headers["x-request-id"]?.isEmpty == false)
        }
        let android = try await site.registerAndroid(
            "registrationToken=a%20b%20c%20d%20e&mobileAppUuid=testIntegrationKey"
        )
        #expect(android.status == 422)
        #expect(android.body.contains("not an FCM token"))
        for method in ["GET", "PUT", "DELETE", "HEAD"] {
            let answer = try await RawHTTP.exchange(
                port: site.port,
                RawHTTP.request(
                    method,
                    "/nms/mobile/1/registerIOS.jssp?\(good)",
                    headers: ["Connection: close"],
                    body: ""
                )
                .replacing("HEAD", with: method == "HEAD" ? "PATCH" : method)
            )
            #expect(answer.status == 405)
            #expect(answer.headers["allow"] == "POST")
        }
        let multipart = try await RawHTTP.exchange(
            port: site.port,
            "POST /nms/mobile/1/registerIOS.jssp HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 0\r\n\r\n"
        )
        #expect(multipart.status == 415)
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "0")
        try await site.drain()
    }

    /// A truncated body could look like a complete registration with half a token.
    @Test func halfABodyIsNoRegistration() async throws {
        let site = try await WebSite.start { $0.limits.bodyTimeoutSec = 3 }
        let half = "mobileAppUuid=integrationKey&registrationToken=70757368546f6b65"
        let answer = try await RawHTTP.exchange(
            port: site.port,
            "POST /nms/mobile/1/registerIOS.jssp HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n\(half)"
        )
        #expect(answer.status == 408)
        // Chunks beyond the limit are refused as they arrive.
        let chunk = String(repeating: "x", count: 0x8000)
        let chunks = String(repeating: "8000\r\n\(chunk)\r\n", count: 3)
        let large = try await RawHTTP.exchange(
            port: site.port,
            "POST /nms/mobile/1/registerIOS.jssp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
        )
        #expect(large.status == 413)
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "0")
        try await site.drain()
    }

    /// A control character is refused in whatever form it is written.
    @Test func controlCharactersAreTakenInBothForms() async throws {
        let site = try await WebSite.start()
        for (user, form) in [("raw", "%01"), ("reference", "%26%231%3B")] {
            let answer = try await site.registerIOS(
                "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey&userKey=\(user)"
                    + "&additionalParams=%3CadditionalParams%3E%3Cparam%20name%3D%22a%22%20value%3D%22x\(form)y%22%2F%3E%3C%2FadditionalParams%3E"
            )
            #expect(answer.status == 200, "\(user): \(answer)")
        }
        #expect(
            try await site.value(
                "SELECT count(*) || ' ' || count(DISTINCT parameters) || ' ' || min(length(parameters->>'a')) FROM pushmta_engine.subscription"
            ) == "2 1 3"
        )
        try await site.drain()
    }

    @Test func anApplicationThatWasMadeJustNowIsKnown() async throws {
        let site = try await WebSite.start()
        let body = "registrationToken=70757368546f6b656e&mobileAppUuid=late"
        #expect(try await site.registerIOS(body).status == 404)
        try await site.run(
            "UPDATE pushmta_engine.application SET integration_key = 'late' WHERE integration_key = 'integrationKey'"
        )
        #expect(try await site.registerIOS(body).status == 200)
        try await site.drain()
    }
}
