import Testing

@testable import MobileSDK

@Suite struct RegistrationRetryTests {
    @Test func offLineItIsTriedAgainWithBackOff() throws {
        var driver = RegistrationDriver()
        let call = driver.register()
        driver.answer(.offline)
        #expect(driver.reports.map(\.calls) == [[call]])
        var waits: [Double] = []
        for _ in 0..<15 {
            waits.append(try #require(driver.timer).seconds)
            try driver.fireTimer()
            driver.answer(.offline)
            #expect(driver.reports.isEmpty, "nobody waits for it any more")
        }
        for (index, wait) in waits.enumerated() {
            let whole = min(5 * Double(1 << index), 3600)
            #expect((whole / 2...whole).contains(wait), "wait \(index) is \(wait)")
        }
        try driver.fireTimer()
        driver.answer(.ok)
        #expect(driver.outcomes == [.success] && driver.reports.first?.calls == [])
        #expect(driver.timer == nil && driver.stored?.pending == nil)
        driver.register()
        #expect(driver.sent.count == 17)
    }

    @Test(arguments: [301, 302, 307, 399, 408, 425, 429, 500, 502, 503, 599])
    func aBusyServerIsTriedAgain(_ status: Int) {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.status(status, "busy"))
        #expect(driver.outcomes == [.unexpectedError(reason: "busy")])
        #expect(driver.timer != nil && driver.stored?.pending != nil)
    }

    @Test(arguments: [400, 403, 405, 413, 415, 422, 204, 299])
    func aRefusalIsNot(_ status: Int) {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.status(status))
        #expect(driver.timer == nil && driver.stored?.pending == nil)
    }

    @Test func aServerMayAskForMoreTime() throws {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.status(429, retryAfter: " 120 "))
        #expect(try #require(driver.timer).seconds == 120)
        try driver.fireTimer()
        driver.answer(.status(429, retryAfter: "1e300"))
        #expect(try #require(driver.timer).seconds == BackOff.longestAsked)
        for nonsense in ["nan", "inf", "-5", "soon", ""] {
            try driver.fireTimer()
            driver.answer(.status(429, retryAfter: nonsense))
            #expect(try #require(driver.timer).seconds <= 5 * 128)
        }
    }

    @Test func whatIsPendingIsSentAfterARestart() {
        var driver = RegistrationDriver()
        driver.register("user")
        var restarted = RegistrationDriver(record: driver.stored)
        #expect(restarted.userKeys == ["user"], "as soon as the settings are there")
        let call = restarted.register("user")
        #expect(restarted.sent.count == 1, "the app's own call joins")
        restarted.answer(.ok)
        #expect(restarted.reports.map(\.calls) == [[call]])
    }

    @Test func aCallDoesNotWaitForTheTimer() {
        var driver = RegistrationDriver()
        driver.register("one")
        driver.answer(.offline)
        driver.register("one")
        #expect(driver.sent.count == 2)
    }

    @Test func aRefusedRetryIsTold() throws {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.offline)
        try driver.fireTimer()
        driver.answer(.status(404))
        #expect(driver.outcomes == [.unknownIntegrationKey] && driver.stored?.pending == nil)
    }

    @Test(arguments: [
        ("first\r\nsecond", "first"), ("\n\n  third \n", "third"), ("", "HTTP status 400"),
        ("<html>\n<body>", "HTTP status 400"),
        (String(repeating: "x", count: 5000), String(repeating: "x", count: 200)),
    ])
    func theFirstLineIsTheReason(_ body: String, _ reason: String) {
        #expect(TransportResult.status(400, body).reason == reason)
    }
}
