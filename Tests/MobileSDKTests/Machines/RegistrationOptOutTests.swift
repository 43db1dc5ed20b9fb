import Foundation
import Testing

@testable import MobileSDK

/// What a person says of an opt-out, and what an app leaves out.
@Suite struct RegistrationOptOutTests {
    private func answered(_ driver: inout RegistrationDriver, _ change: (inout RegistrationDriver) -> Void) {
        let before = driver.sent.count
        change(&driver)
        if driver.sent.count > before { driver.answer(.ok) }
    }

    @Test func outIsSaidWithEveryRegistrationOfThatPersonAndInAgainOnce() {
        var driver = RegistrationDriver()
        answered(&driver) { $0.register("ada") }
        answered(&driver) { $0.handle(.optOut(true)) }
        // The server has it.
        answered(&driver) { $0.handle(.optOut(true)) }
        driver = restarted(driver)
        answered(&driver) { $0.register("ada") }
        #expect(driver.sent.isEmpty)
        answered(&driver) { $0.register(.sample(token: "next", userKey: "ada")) }
        answered(&driver) { $0.register("ben") }
        answered(&driver) { $0.register("ada") }
        answered(&driver) { $0.handle(.optOut(false)) }
        answered(&driver) { $0.register("ada") }
        answered(&driver) { $0.register(.sample(token: "newest", userKey: "ada")) }
        #expect(driver.words == ["&optOut=true", "", "&optOut=true", "&optOut=false", ""])
        #expect(driver.stored?.words == [:])
    }

    private func restarted(_ driver: RegistrationDriver) -> RegistrationDriver {
        RegistrationDriver(record: driver.stored)
    }

    @Test func whatIsSaidBeforeTheFirstRegistrationGoesWithIt() {
        var driver = RegistrationDriver()
        driver.handle(.optOut(true))
        #expect(driver.sent.isEmpty && driver.stored?.nextWord == true)
        driver = restarted(driver)
        driver.register("ada")
        driver.answer(.ok)
        #expect(driver.words == ["&optOut=true"] && driver.stored?.words == ["ada": true])
        // Signing out takes nothing back.
        driver.handle(.forget)
        driver.register("ada")
        #expect(driver.words.last == "&optOut=true")
    }

    @Test func whatTheServerDoesNotHaveIsSaidAgain() throws {
        var driver = RegistrationDriver()
        driver.register("ada")
        driver.answer(.ok)
        driver.handle(.optOut(false))
        driver.answer(.offline)
        #expect(driver.stored?.words == ["ada": false])
        try driver.fireTimer()
        driver.answer(.ok)
        #expect(driver.words == ["", "&optOut=false", "&optOut=false"] && driver.stored?.words == [:])
        // Another word while the first one is under way is newer.
        driver.handle(.optOut(false))
        driver.handle(.optOut(true))
        driver.answer(.ok)
        driver.answer(.ok)
        #expect(driver.words.suffix(2) == ["&optOut=false", "&optOut=true"] && driver.stored?.words == ["ada": true])
    }

    @Test func anOptOutOfACategoryGoesWithEveryRegistrationAndAnOptInOnce() {
        var driver = RegistrationDriver()
        driver.handle(.categoryOptOut("news", true))
        #expect(driver.sent.isEmpty && driver.stored?.nextCategories == ["news": true])
        driver = restarted(driver)
        answered(&driver) { $0.register("ada") }
        answered(&driver) { $0.handle(.categoryOptOut("marketing", true)) }
        answered(&driver) { $0.register("ben") }
        answered(&driver) { $0.register("ada") }
        answered(&driver) { $0.handle(.categoryOptOut("news", false)) }
        // The server has it.
        answered(&driver) { $0.register("ada") }
        answered(&driver) { $0.register(.sample(token: "next", userKey: "ada")) }
        answered(&driver) { $0.handle(.optOut(true)) }
        answered(&driver) { $0.handle(.categoryOptOut("marketing", false)) }
        let both = "&categoriesOptOut=marketing%2Cnews"
        #expect(
            driver.words == [
                "&categoriesOptOut=news", both, "", both, "&categoriesOptOut=marketing&categoriesOptIn=news",
                "&categoriesOptOut=marketing", "&optOut=true&categoriesOptOut=marketing",
                "&optOut=true&categoriesOptIn=marketing",
            ]
        )
        #expect(driver.stored?.categories?["ada"] == nil && driver.stored?.words == ["ada": true])
    }

    @Test func anOptInOfACategoryIsKeptUntilTheServerHasIt() throws {
        var driver = RegistrationDriver()
        driver.register("ada")
        driver.answer(.ok)
        driver.handle(.categoryOptOut("news", false))
        driver.answer(.offline)
        #expect(driver.stored?.categories == ["ada": ["news": false]])
        driver = restarted(driver)
        driver.answer(.ok)
        #expect(driver.words == ["&categoriesOptIn=news"])
        // Another choice while the first one is under way is newer.
        driver.handle(.categoryOptOut("news", false))
        driver.handle(.categoryOptOut("news", true))
        driver.answer(.ok)
        driver.answer(.ok)
        #expect(driver.words.suffix(2) == ["&categoriesOptIn=news", "&categoriesOptOut=news"])
        #expect(driver.stored?.categories == ["ada": ["news": true]])
    }

    /// A record of an earlier version of the app says nothing of categories.
    @Test func aRecordWithoutCategoriesIsRead() throws {
        let text = #"{"words": {"ada": true}}"#
        let record = try JSONDecoder().decode(RegistrationRecord.self, from: Data(text.utf8))
        #expect(record.words == ["ada": true] && record.categories == nil && record.nextCategories == nil)
    }

    @Test func aTokenRefreshWithoutParametersKeepsThose() {
        var driver = RegistrationDriver()
        driver.register(.sample(userKey: "ada", ["city": "Oslo"]))
        driver.answer(.ok)
        driver = restarted(driver)
        driver.register(.sample(token: "next", userKey: "ada", nil))
        driver.answer(.ok)
        #expect(driver.sent.last?.request.body?.contains("Oslo") == true)
        // The call is made at each start, and again after a failure: it still says nothing of them.
        driver.register(.sample(token: "next", userKey: "ada", nil))
        #expect(driver.sent.count == 1)
        driver.register(.sample(token: "third", userKey: "ada", nil))
        driver.answer(.status(503))
        driver.register(.sample(token: "third", userKey: "ada", nil))
        #expect(driver.sent.count == 3 && driver.sent.last?.request.body?.contains("Oslo") == true)
        driver.answer(.ok)
        // An empty map takes them away, and another user has none.
        driver.register(.sample(token: "third", userKey: "ada", [:]))
        driver.answer(.ok)
        #expect(driver.sent.last?.request.body?.contains("Oslo") == false)
        driver.register(.sample(userKey: "ada", ["city": "Oslo"]))
        driver.answer(.ok)
        driver.register(.sample(token: "other", userKey: "ben", nil))
        #expect(driver.sent.last?.request.body?.contains("Oslo") == false)
    }

    @Test func aProofAloneKeepsTheParameters() throws {
        var driver = RegistrationDriver()
        driver.register(.sample(userKey: "ada", ["city": "Oslo"]))
        driver.answer(.ok)
        for (proof, others) in [("one", []), ("two", ["one"]), ("a\"b", ["one", "two"])] {
            driver.register(.sample(userKey: "ada", ["userKeyProof": .string(proof)]))
            let body = try #require(driver.sent.last?.request.body?.removingPercentEncoding)
            #expect(body.contains("Oslo") && body.contains(ParametersXML.escape(proof)), "\(body)")
            #expect(!others.contains { body.contains("\"\($0)\"") }, "\(body)")
            driver.answer(.ok)
        }
        driver.register(.sample(userKey: "ada", ["userKeyProof": "four", "city": "Bergen"]))
        driver.answer(.ok)
        let body = try #require(driver.sent.last?.request.body?.removingPercentEncoding)
        #expect(body.contains("Bergen") && !body.contains("Oslo"))
    }
}
