import Testing

@testable import WebServer

/// Every request of the SDKs' own tests (reference: AEPCampaignClassic's unit and functional tests, and those of the
/// Android SDK) is accepted, and its values are stored decoded.
@Suite struct RegistrationVectorTests {
    private static let iosFields =
        "deviceName=iPhone%2014&deviceModel=iPhone&deviceBrand=Apple&deviceManufacturer=Apple&osName=iOS&osVersion=iOS%2016.1&osLanguage=en-US"

    private func iosBody(_ parameters: String, userKey: String = "userkey") -> String {
        "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey&userKey=\(userKey)&\(Self.iosFields)&additionalParams=\(parameters)"
    }

    private func stored(_ site: WebSite, _ expression: String) async throws -> String? {
        try await site.value(
            "SELECT \(expression) FROM pushmta_engine.subscription WHERE push_token = '70757368546f6b656e' AND enabled"
        )
    }

    @Test func iosWithoutParameters() async throws {
        let site = try await WebSite.start()
        let empty = "%3CadditionalParams%3E%3C%2FadditionalParams%3E"
        let answer = try await site.registerIOS(iosBody(empty, userKey: ""))
        #expect(answer.status == 200)
        #expect(answer.body == "OK\n")
        #expect(try await stored(site, "user_key || '|' || (parameters = '{}')") == "|true")
        #expect(
            try await stored(site, "device::text")
                == #"{"osName": "iOS", "osVersion": "iOS 16.1", "deviceName": "iPhone 14", "osLanguage": "en-US", "deviceBrand": "Apple", "deviceModel": "iPhone", "deviceManufacturer": "Apple"}"#
        )
        // The same data twice: one row, again 200.
        #expect(try await site.registerIOS(iosBody(empty, userKey: "")).status == 200)
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "1")
        try await site.drain()
    }

    @Test(arguments: [
        (
            "%3CadditionalParams%3E%3Cparam%20name%3D%22email%22%20value%3D%22email%40email.com%22%20%2F%3E%3Cparam%20name%3D%22userPoints%22%20value%3D%223233%22%20%2F%3E%3C%2FadditionalParams%3E",
            #"{"email": "email@email.com", "userPoints": "3233"}"#
        ),
        (
            "%3CadditionalParams%3E%3Cparam%20name%3D%22greeting%22%20value%3D%22%26%23x27%3Bh%26gt%3Be%26amp%3Bl%26quot%3Bl%26lt%3Bo%26%23x27%3B%22%20%2F%3E%3C%2FadditionalParams%3E",
            #"{"greeting": "'h>e&l\"l<o'"}"#
        ),
        (
            "%3CadditionalParams%3E%3Cparam%20name%3D%22company%22%20value%3D%22xxx.corp%22%20%2F%3E%3Cparam%20name%3D%22isRegistered%22%20value%3D%22true%22%20%2F%3E%3Cparam%20name%3D%22serial%22%20value%3D%2212345%22%20%2F%3E%3C%2FadditionalParams%3E",
            #"{"serial": "12345", "company": "xxx.corp", "isRegistered": "true"}"#
        ),
        // A line break that the SDK's replacement leaves.
        (
            "%3CadditionalParams%3E%3Cparam%20name%3D%22a%22%20value%3D%22b%0D%0Ac%22%20%2F%3E%3C%2FadditionalParams%3E",
            #"{"a": "b\r\nc"}"#
        ),
    ])
    func iosParameters(_ parameters: String, _ expected: String) async throws {
        let site = try await WebSite.start()
        #expect(try await site.registerIOS(iosBody(parameters)).status == 200)
        #expect(try await stored(site, "parameters::text") == expected)
        try await site.drain()
    }

    private func androidBody(_ parameters: String, userKey: String = "testUser") -> String {
        "registrationToken=testToken&mobileAppUuid=testIntegrationKey&userKey=\(userKey)&deviceImei=12345&deviceName=mockDevice&deviceModel=mockDeviceName&deviceBrand=mockDeviceBrand&deviceManufacturer=mockDeviceManufacturer&osName=android&osVersion=mockOSName%20mockOSVersion&osLanguage=mocklocale&additionalParams=\(parameters)"
    }

    @Test(arguments: [
        (
            "%3CadditionalParameters%3E%3Cparam%20name%3D%22key%22%20value%3D%22value%22%2F%3E%3C%2FadditionalParameters%3E",
            #"{"key": "value"}"#
        ),
        ("%3CadditionalParameters%3E%3C%2FadditionalParameters%3E", "{}"),
        (
            "%3CadditionalParameters%3E%3Cparam%20name%3D%22a%22%20value%3D%223.14%22%2F%3E%3Cparam%20name%3D%22c%22%20value%3D%2297%22%2F%3E%3C%2FadditionalParameters%3E",
            #"{"a": "3.14", "c": "97"}"#
        ),
        (
            "%3CadditionalParameters%3E%3Cparam%20name%3D%22x%22%20value%3D%22%26%2339%3Bh%26gt%3Be%26amp%3Bl%26quot%3Bl%26lt%3Bo%26%2339%3B%22%2F%3E%3C%2FadditionalParameters%3E",
            #"{"x": "'h>e&l\"l<o'"}"#
        ),
        (
            "%3CadditionalParameters%3E%3Cparam%20name%3D%22%22%20value%3D%22%22%2F%3E%3C%2FadditionalParameters%3E",
            #"{"": ""}"#
        ),
    ])
    func androidParameters(_ parameters: String, _ expected: String) async throws {
        let site = try await WebSite.start()
        #expect(try await site.registerAndroid(androidBody(parameters)).status == 200)
        #expect(
            try await site.value(
                "SELECT parameters FROM pushmta_engine.subscription WHERE push_token = 'testToken' AND device_id = '12345' AND locale = 'mocklocale' AND device->>'osVersion' = 'mockOSName mockOSVersion'"
            ) == expected
        )
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.subscription") == "1")
        try await site.drain()
    }

    @Test func userKeysAndOddTextsArriveAsTheyAre() async throws {
        let site = try await WebSite.start()
        #expect(try await site.registerAndroid(androidBody("", userKey: "user%40email.com")).status == 200)
        #expect(try await site.value("SELECT user_key FROM pushmta.subscription") == "user@email.com")
        // The Android encoder's own vector, as the value of an unknown parameter.
        let encoded =
            "~%21%40%23%24%25%5E%26%2A%28%29-%2B%3D%7C%7D%7B%5D%5B%5C%2F.%3C%2C%3E%E7%BD%91"
        #expect(try await site.registerAndroid("odd=\(encoded)&" + androidBody("")).status == 200)
        #expect(
            try await site.value("SELECT extra->>'odd' FROM pushmta_engine.subscription WHERE extra IS NOT NULL")
                == #"~!@#$%^&*()-+=|}{][\/.<,>网"#
        )
        try await site.drain()
    }

    /// A parameter that an app no longer sends is removed, even the last one.
    @Test func parametersThatAreNotSentAgainAreGone() async throws {
        let site = try await WebSite.start()
        func document(_ names: String...) -> String {
            let list = names.map { "%3Cparam%20name%3D%22\($0)%22%20value%3D%22v%22%20%2F%3E" }.joined()
            return "%3CadditionalParams%3E\(list)%3C%2FadditionalParams%3E"
        }
        for (sent, expected) in [
            (document("a", "b"), #"{"a": "v", "b": "v"}"#), (document("b"), #"{"b": "v"}"#), ("", #"{"b": "v"}"#),
            (document(), "{}"),
        ] {
            #expect(try await site.registerIOS(iosBody(sent)).status == 200)
            #expect(try await stored(site, "parameters::text") == expected)
        }
        try await site.drain()
    }

    /// Another public client sends everything in the query string, with an empty body.
    @Test func parametersMayStandInTheQueryString() async throws {
        let site = try await WebSite.start()
        let answer = try await site.post(
            "/nms/mobile/1/registerIOS.jssp?additionalParams=%3CadditionalParams%3E%3Cparam+name%3D%22city%22+value%3D%22New+York%22+%2F%3E%3C%2FadditionalParams%3E&userKey=u+1&mobileAppUuid=integrationKey&registrationToken=70757368546F6B656E",
            ""
        )
        #expect(answer.status == 200, "\(answer)")
        #expect(try await stored(site, "user_key || '|' || (parameters->>'city')") == "u 1|New York")
        // The body takes precedence over the query string.
        #expect(
            try await site.post("/nms/mobile/1/registerIOS.jssp?userKey=query", iosBody("", userKey: "body")).status
                == 200
        )
        #expect(try await stored(site, "user_key") == "body")
        try await site.drain()
    }
}
