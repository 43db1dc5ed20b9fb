import Testing

@testable import MobileSDK

/// Calls while a request is under way.
@Suite struct RegistrationOrderTests {
    @Test func theSameCallJoins() {
        var driver = RegistrationDriver()
        let calls = [driver.register("user"), driver.register("user")]
        #expect(driver.sent.count == 1)
        driver.answer(.ok)
        #expect(driver.reports.map(\.calls) == [calls])
    }

    @Test func theNewestIsSentLastAndThoseBetweenAreLeftOut() {
        var driver = RegistrationDriver()
        let first = driver.register("one")
        let second = driver.register("two")
        let third = driver.register("three")
        #expect(driver.sent.count == 1)
        #expect(driver.stored?.pending?.userKey == "three", "the newest is the one that survives a restart")
        driver.answer(.ok)
        #expect(driver.reports.map(\.calls) == [[first]])
        #expect(driver.userKeys == ["one", "three"])
        driver.answer(.ok)
        #expect(driver.reports.map(\.calls) == [[second, third]])
        driver.register("three")
        #expect(driver.sent.count == 2)
    }

    @Test func backToWhatIsUnderWay() {
        var driver = RegistrationDriver()
        let calls = [driver.register("one"), driver.register("two"), driver.register("one")]
        driver.answer(.ok)
        #expect(driver.reports.flatMap(\.calls).sorted() == calls)
        #expect(driver.sent.count == 1 && driver.stored?.pending == nil)
    }

    @Test func aFailureIsNotTriedAgainWhenANewerOneWaits() {
        var driver = RegistrationDriver()
        driver.register("one")
        driver.register("two")
        driver.answer(.offline)
        #expect(driver.outcomes == [.connectionIssue(reason: "offline")])
        #expect(driver.timer == nil && driver.userKeys == ["one", "two"])
    }

    @Test func aRefusalOfTheOldOneDoesNotDropTheNewOne() {
        var driver = RegistrationDriver()
        driver.register("one")
        driver.register("two")
        driver.answer(.status(400))
        #expect(driver.userKeys == ["one", "two"])
        driver.answer(.ok)
        #expect(driver.outcomes == [.success])
    }

    @Test func staleAnswersAndTimersAreNothing() throws {
        var driver = RegistrationDriver()
        driver.register()
        driver.answer(.offline)
        let timer = try #require(driver.timer)
        driver.handle(.retryNow)
        #expect(driver.sent.count == 2)
        driver.handle(.timerFired(timer.number))
        driver.handle(.answered(attempt: driver.sent[0].attempt, .ok))
        #expect(driver.sent.count == 2 && driver.reports.isEmpty)
        driver.answer(.offline)
        driver.handle(.timerFired(timer.number))
        #expect(driver.sent.count == 2, "another timer runs by now")
        try driver.fireTimer()
        driver.answer(.ok)
        driver.handle(.timerFired(timer.number))
        driver.handle(.retryNow)
        #expect(driver.sent.count == 3)
    }

    @Test func aServerChangedUnderWayIsToldToo() {
        var driver = RegistrationDriver()
        driver.register()
        driver.handle(.marketingHost("other"))
        driver.answer(.ok)
        #expect(driver.sent.map(\.request.url).last == "https://other" + RegistrationForm.path)
        driver.answer(.ok)
        #expect(driver.stored?.pending == nil)
        driver.register()
        #expect(driver.sent.count == 2)
    }

    @Test func settingsTakenAwayUnderWay() {
        var driver = RegistrationDriver()
        driver.register()
        driver.handle(.integrationKey(nil))
        driver.answer(.ok)
        #expect(driver.outcomes == [.success] && driver.stored?.pending == nil && driver.sent.count == 1)
    }

    /// Random calls, answers, losses, restarts: in the end the server has what the app wanted last.
    @Test(arguments: 0..<50)
    func theServerEndsWithTheLastWish(_ seed: UInt64) throws {
        var dice = SplitMix64(state: seed)
        var driver = RegistrationDriver()
        var (server, wanted, answered) = ("", "", 0)
        var called: Set<UInt64> = []
        for _ in 0..<300 {
            switch Int.random(in: 0..<6, using: &dice) {
            case 0, 1:
                wanted = ["a", "b", "c"].randomElement(using: &dice) ?? "a"
                called.insert(driver.register(wanted))
            case 2 where driver.sent.count > answered:
                server = driver.userKeys.last ?? ""
                answered = driver.sent.count
                driver.answer(.ok)
            case 3 where driver.sent.count > answered:
                // Lost on the way there, or on the way back.
                if Bool.random(using: &dice) { server = driver.userKeys.last ?? "" }
                answered = driver.sent.count
                driver.answer(Bool.random(using: &dice) ? .offline : .status(503))
            case 4: driver.handle(.retryNow)
            case 5 where Int.random(in: 0..<10, using: &dice) == 0:
                if driver.sent.count > answered, Bool.random(using: &dice) { server = driver.userKeys.last ?? "" }
                driver = RegistrationDriver(record: driver.stored)
                called = []
                answered = 0
            default: continue
            }
            for call in driver.reports.flatMap(\.calls) {
                #expect(called.remove(call) != nil, "a call is answered once; seed \(seed)")
            }
        }
        for _ in 0..<3 {
            driver.handle(.retryNow)
            guard driver.sent.count > answered else { break }
            server = driver.userKeys.last ?? ""
            answered = driver.sent.count
            driver.answer(.ok)
            called.subtract(driver.reports.flatMap(\.calls))
        }
        #expect(server == wanted, "seed \(seed)")
        #expect(called.isEmpty && driver.stored?.pending == nil, "seed \(seed)")
    }
}
