import PushCore
import Testing

@Suite("What an app says about categories")
struct CategoryChoicesTests {
    private func registration(_ query: String) throws -> DeviceRegistration {
        var form = FormParameters()
        try form.read(Array("registrationToken=device-token-1&mobileAppUuid=k&\(query)".utf8))
        return try DeviceRegistration(form, platform: .android)
    }

    @Test("Names are read from two parameters, and an opt-out wins")
    func names() throws {
        let said = try registration("categoriesOptOut=News,%20marketing%20,,news&categoriesOptIn=service,news")
        #expect(said.categories.outText == "marketing,news" && said.categories.inText == "service")
        #expect(said.extra.isEmpty)
        let silent = try registration("categoriesOptOut=&categoriesOptIn=,")
        #expect(silent.categories == CategoryChoices() && silent.categories.outText == nil)
        #expect(try registration("optOut=true").categories == CategoryChoices())
    }

    @Test("A list that no service could need is refused")
    func limit() throws {
        let long = String(repeating: "a,", count: 501)
        #expect(throws: RegistrationError.tooLong("categoriesOptOut", limit: 1_000)) {
            try registration("categoriesOptOut=\(long)")
        }
        #expect(throws: RegistrationError.tooLong("categoriesOptIn", limit: 1_000)) {
            try registration("categoriesOptIn=\(long)")
        }
    }

    @Test("A later registration counts where both name a category")
    func fill() {
        var later = CategoryChoices(outs: "a", ins: "b")
        later.fill(from: CategoryChoices(outs: "b,c", ins: "a,d"))
        #expect(later == CategoryChoices(outs: "a,c", ins: "b,d"))
        var silent = CategoryChoices()
        silent.fill(from: CategoryChoices(outs: "a", ins: ""))
        #expect(silent.outText == "a" && silent.inText == nil)
    }

    @Test("A category has a plain name")
    func form() {
        for name in ["a", "news", "order-updates_2", String(repeating: "a", count: 50)] {
            #expect(DeliverySetting.isCategory(name), "\(name)")
        }
        for name in ["", "News", "1a", "a,b", "a b", "ü", "a\n", String(repeating: "a", count: 51)] {
            #expect(!DeliverySetting.isCategory(name), "\(name)")
        }
    }
}
