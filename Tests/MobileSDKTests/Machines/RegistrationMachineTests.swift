import Testing

@testable import MobileSDK

@Suite struct RegistrationMachineTests {
    @Test func theRequest() throws {
        var driver = RegistrationDriver()
        driver.register("user")
        let request = try #require(driver.sent.first?.request)
        #expect(request.method == "POST")
        #expect(request.url == "https://marketingServer/nms/mobile/1/registerIOS.jssp")
        #expect(request.headers == ["Content-Type": "application/x-www-form-urlencoded;charset=UTF-8"])
        #expect(request.body == RegistrationForm.body(.sample(userKey: "user"), integrationKey: "integrationKey"))
        #expect(driver.stored?.pending == .sample(userKey: "user"), "stored before it is sent")
    }

    @Test func theSixOutcomes() {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.ok)
        #expect(driver.outcomes == [.success])
        #expect(driver.stored?.pending == nil)

        driver = RegistrationDriver(host: nil)
        driver.register()
        #expect(driver.outcomes == [.marketingHostEmpty] && driver.sent.isEmpty)

        driver = RegistrationDriver(key: "")
        driver.register()
        #expect(driver.outcomes == [.integrationKeyEmpty] && driver.sent.isEmpty)

        driver = RegistrationDriver()
        driver.register()
        driver.answer(.offline)
        #expect(driver.outcomes == [.connectionIssue(reason: "offline")])
        #expect(driver.stored?.pending != nil && driver.timer != nil)

        driver = RegistrationDriver()
        driver.register()
        driver.answer(.status(404, "Unknown integration key"))
        #expect(driver.outcomes == [.unknownIntegrationKey])
        #expect(driver.stored?.registered == nil && driver.stored?.pending == nil && driver.timer == nil)

        driver = RegistrationDriver()
        driver.register()
        driver.answer(.status(400, "Malformed token\nsecond line"))
        #expect(driver.outcomes == [.unexpectedError(reason: "Malformed token")])
        #expect(driver.outcomes.first?.errorReason == "Malformed token")
        #expect(driver.stored?.registered == nil && driver.stored?.pending == nil && driver.timer == nil)
    }

    @Test func theSameDataTwiceIsOneRequestAndTwoSuccesses() {
        var driver = RegistrationDriver()
        driver.register("user")
        driver.answer(.ok)
        driver.register("user")
        #expect(driver.outcomes == [.success] && driver.sent.count == 1)
        // After a restart too.
        var restarted = RegistrationDriver(record: driver.stored)
        restarted.register("user")
        #expect(restarted.outcomes == [.success] && restarted.sent.isEmpty)
    }

    @Test func aFailureIsNotRemembered() {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.status(404))
        driver.register()
        #expect(driver.sent.count == 2)
    }

    @Test(arguments: [201, 204, 302])
    func onlyTwoHundredIsSuccess(_ status: Int) {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.status(status))
        #expect(driver.outcomes == [.unexpectedError(reason: "HTTP status \(status)")])
        #expect(driver.stored?.registered == nil)
    }

    @Test func anotherUserServerOrKeyIsSent() {
        var driver = RegistrationDriver()
        driver.register("one")
        driver.answer(.ok)
        driver.register("two")
        driver.answer(.ok)
        driver.handle(.marketingHost("other"))
        #expect(driver.sent.count == 2, "a setting alone sends nothing")
        driver.register("two")
        driver.answer(.ok)
        driver.handle(.integrationKey("other"))
        driver.register("two")
        driver.answer(.ok)
        #expect(driver.userKeys == ["one", "two", "two", "two"])
        #expect(driver.sent.last?.request.url.hasPrefix("https://other/") == true)
        #expect(driver.sent.last?.request.body?.contains("mobileAppUuid=other&") == true)
    }

    /// The answer to "two" was lost, so nobody knows whom the server has: "one" must be said again.
    @Test func afterALostAnswerTheOldDataIsSentAgain() {
        var driver = RegistrationDriver()
        driver.register("one")
        driver.answer(.ok)
        driver.register("two")
        driver.answer(.offline)
        driver.register("one")
        #expect(driver.userKeys == ["one", "two", "one"])
        driver.answer(.ok)
        #expect(driver.outcomes == [.success] && driver.stored?.pending == nil)
    }

    @Test func forgottenDataIsSentAgain() {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.ok)
        driver.handle(.forget)
        #expect(driver.stored == RegistrationRecord())
        driver.register()
        #expect(driver.sent.count == 2)
        // Forgotten under way: answered, but not remembered.
        let waiting = driver.register("next")
        driver.handle(.forget)
        driver.answer(.ok)
        #expect(driver.reports.first?.calls.contains(waiting) == true)
        #expect(driver.sent.count == 2 && driver.stored == RegistrationRecord())
    }
}
