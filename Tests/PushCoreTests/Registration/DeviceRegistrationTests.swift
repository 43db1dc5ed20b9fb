import Testing

@testable import Content
@testable import PushCore

@Suite struct DeviceRegistrationTests {
    private func registration(_ text: String, _ platform: Platform = .android) throws -> DeviceRegistration {
        var form = FormParameters()
        try form.read(Array(text.utf8))
        return try DeviceRegistration(form, platform: platform)
    }

    @Test func tokensAreCheckedAndNormalised() {
        #expect(PushTokenForm.normalised("70757368546F6B656E", .ios) == "70757368546f6b656e")
        #expect(
            PushTokenForm.normalised(String(repeating: "aB", count: 32), .ios) == String(repeating: "ab", count: 32)
        )
        for wrong in ["", "abc", "7075736854", "70757368546f6b65zz", "70757368546f6b656e0", " 70757368546f6b65"] {
            #expect(PushTokenForm.normalised(wrong, .ios) == nil, "\(wrong)")
        }
        #expect(PushTokenForm.normalised(String(repeating: "a", count: 202), .ios) == nil)
        #expect(PushTokenForm.normalised("AbC:APA91b-_x", .android) == "AbC:APA91b-_x")
        for wrong in [
            "", "short", "with blank", "ümlaut-token", "line\nend-token", String(repeating: "a", count: 2_001),
        ] {
            #expect(PushTokenForm.normalised(wrong, .android) == nil, "\(wrong)")
        }
    }

    @Test func fieldsGoWhereTheyBelong() throws {
        let found = try registration(
            "x=1&osVersion=Android+14&registrationToken=testToken&mobileAppUuid=key&deviceImei=77&deviceName=n&osLanguage=zh-CN-%23Hans&deviceBrand="
        )
        #expect(found.pushToken == "testToken")
        #expect(found.integrationKey == "key")
        #expect(found.userKey == "")
        #expect(found.deviceID == "77")
        #expect(found.locale == "zh-CN-#Hans")
        #expect(found.device == ["osVersion": "Android 14", "deviceName": "n", "osLanguage": "zh-CN-#Hans"])
        #expect(found.extra == ["x": "1"])
        #expect(found.parameters.isEmpty)
        #expect(try registration("registrationToken=testToken&mobileAppUuid=k&deviceUuid=u").deviceID == "u")
        #expect(try registration("registrationToken=testToken&mobileAppUuid=k&deviceImei=").deviceID == nil)
    }

    @Test func whatIsMissingOrWrongIsSaid() {
        func error(_ text: String) -> RegistrationError? {
            do {
                _ = try registration(text)
                return nil
            } catch {
                return error as? RegistrationError
            }
        }
        #expect(error("registrationToken=testToken") == .missing("mobileAppUuid"))
        #expect(error("mobileAppUuid=k") == .missing("registrationToken"))
        #expect(error("mobileAppUuid=k&registrationToken=a+b") == .token(.android))
        let long = String(repeating: "k", count: 1_001)
        #expect(
            error("mobileAppUuid=k&registrationToken=testToken&userKey=\(long)") == .tooLong("userKey", limit: 1_000)
        )
        #expect(
            error("mobileAppUuid=k&registrationToken=testToken&additionalParams=x")?.description.contains("byte 0")
                == true
        )
    }

    @Test func declaredParametersGoToTheirColumns() throws {
        var declarations = ApplicationDeclarations()
        try declarations.declare(SubscriptionParameter(name: "mail", column: "user_key"))
        try declarations.declare(SubscriptionParameter(name: "zone", column: "time_zone"))
        try declarations.declare(SubscriptionParameter(name: "first", column: "recipient.firstName"))
        var given = try registration("registrationToken=testToken&mobileAppUuid=k&userKey=u&osLanguage=de&y=2")
        given.parameters = ["mail": "a@b", "zone": "Europe/Paris", "first": "A\"\\\u{1}", "rest": "r"]
        let placed = try PlacedRegistration(given, application: 3, declarations: declarations)
        #expect(placed.userKey == "a@b")
        #expect(placed.timeZone == "Europe/Paris")
        #expect(placed.recipient == #"{"firstName":"A\"\\\u0001"}"#)
        #expect(placed.parameters == #"{"rest":"r"}"#)
        #expect(placed.extra == #"{"y":"2"}"#)
        #expect(placed.device == #"{"osLanguage":"de"}"#)
        given.parameters["mail"] = String(repeating: "m", count: 1_001)
        #expect(throws: RegistrationError.self) {
            _ = try PlacedRegistration(given, application: 3, declarations: declarations)
        }
    }

    /// An SDK always sends the document: without parameters it says that the app has none any more.
    @Test(arguments: [
        ("", nil), ("&additionalParams=", nil), ("&additionalParams=%20%0A", nil),
        ("&additionalParams=<additionalParams></additionalParams>", "{}"),
        ("&additionalParams=<additionalParameters/>", "{}"),
        (#"&additionalParams=<additionalParams><param name="a" value="b" /></additionalParams>"#, #"{"a":"b"}"#),
    ])
    func anEmptyDocumentSaysThatThereIsNothing(text: String, stored: String?) throws {
        func placed(_ declarations: ApplicationDeclarations) throws -> PlacedRegistration {
            try PlacedRegistration(
                registration("registrationToken=testToken&mobileAppUuid=k" + text),
                application: 1,
                declarations: declarations
            )
        }
        #expect(try placed(ApplicationDeclarations()).parameters == stored)
        // What is declared for another column is said, too.
        var declarations = ApplicationDeclarations()
        try declarations.declare(SubscriptionParameter(name: "a", column: "recipient.a"))
        #expect(try placed(declarations).parameters == stored.map { _ in "{}" })
        // In one transaction as one after the other.
        var earlier = try placed(ApplicationDeclarations())
        earlier.parameters = #"{"city":"Lyon"}"#
        let both = PlacedRegistration.completed([earlier, try placed(ApplicationDeclarations())])
        #expect(both.last?.parameters == stored ?? earlier.parameters)
    }

    @Test(arguments: [
        "", " ", "0", "000000000000000", "00000000-0000-0000-0000-000000000000", "FFFFFFFFFFFFFFFF", "11111111",
        "unknown",
        "Unknown", "null", "(null)", "n/a", "9774d56d682e549c", "9774D56D682E549C", "02:00:00:00:00:00",
    ])
    func anIdThatManyDevicesHaveIsNone(_ id: String) throws {
        let found = try registration("registrationToken=testToken&mobileAppUuid=k&deviceUuid=\(id)")
        let placed = try PlacedRegistration(found, application: 1, declarations: ApplicationDeclarations())
        #expect(placed.deviceID == nil)
    }

    @Test(arguments: ["77", "d1", "1", "9774d56d682e549d", "1111112", "aaaaaaa", "358240051111110", "nullable"])
    func anyOtherIdIsKept(_ id: String) throws {
        #expect(DeviceIdentity.kept(id) == id)
    }

    /// What the earlier of two registrations in one transaction said is not lost.
    @Test func laterRegistrationsSayWhatEarlierOnesSaid() throws {
        func placed(_ text: String) throws -> PlacedRegistration {
            try PlacedRegistration(
                registration("registrationToken=testToken&mobileAppUuid=k&" + text),
                application: 1,
                declarations: ApplicationDeclarations()
            )
        }
        let all = PlacedRegistration.completed([
            try placed("userKey=a&osLanguage=de&x=1&deviceImei=d"), try placed("userKey=b"),
            try placed("userKey=a&x=2"),
            try placed("userKey=a"),
        ])
        #expect(all.map(\.locale) == ["de", "", "de", "de"])
        #expect(all.map(\.extra) == [#"{"x":"1"}"#, nil, #"{"x":"2"}"#, #"{"x":"2"}"#])
        #expect(all.map(\.deviceID) == ["d", nil, nil, nil])
    }
}
