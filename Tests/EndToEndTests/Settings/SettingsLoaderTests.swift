import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct SettingsLoaderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func load(
        file text: String? = nil,
        environment: [String: String] = [:],
        flags: [String] = []
    ) async throws -> LoadedSettings {
        let file = try text.map { try folder.write($0, to: "pushmta.yaml") }
        return try await SettingsLoader(file: file, environment: environment, flags: flags).load()
    }

    private func message(
        file text: String? = nil,
        environment: [String: String] = [:],
        flags: [String] = []
    ) async throws -> String {
        let error = await #expect(throws: SettingsError.self) {
            try await self.load(file: text, environment: environment, flags: flags)
        }
        return try #require(error).message
    }

    @Test func theLaterSourceWins() async throws {
        let text = "mta:\n  child:\n    maxAgeSec: 100\n    dispatchWindow: 101\n    requestTimeoutSec: 102\n"
        let loaded = try await load(
            file: text,
            environment: [
                "PUSHMTA_MTA_CHILD_DISPATCH_WINDOW": "201", "PUSHMTA_MTA_CHILD_REQUEST_TIMEOUT_SEC": "202",
                "PATH": "/bin",
            ],
            flags: ["mta.child.requestTimeoutSec=302"]
        )
        #expect(loaded.values.mta.child.maxAgeSec == 100)
        #expect(loaded.values.mta.child.dispatchWindow == 201)
        #expect(loaded.values.mta.child.requestTimeoutSec == 302)
        #expect(loaded.source(of: "mta.child.maxAgeSec") == .file)
        #expect(loaded.source(of: "mta.child.dispatchWindow") == .environment)
        #expect(loaded.source(of: "mta.child.requestTimeoutSec") == .flag)
        #expect(loaded.source(of: "mta.child.maxMsgPerChild") == .default)
    }

    @Test func withoutSourcesEverythingHasItsDefault() async throws {
        let loaded = try await load(file: "log:\n  level: info\n")
        #expect(loaded.values == Settings())
    }

    @Test func anUnknownKeyIsAnErrorThatNamesTheNearestOne() async throws {
        #expect(try await message(file: "mta:\n  child:\n    maxAgeSecs: 5\n").contains("mta.child.maxAgeSec?"))
        #expect(
            try await message(environment: ["PUSHMTA_MTA_CHILD_MAX_AGE": "5"]).contains(
                "PUSHMTA_MTA_CHILD_MAX_AGE_SEC?"
            )
        )
        #expect(try await message(flags: ["databas.url=x"]).contains("database.url?"))
    }

    @Test(arguments: ["foo: {}\n", "mta:\n  foo: {}\n", "mta:\n  child:\n    maxAgeSecs: {}\n", "foo:\n"])
    func anUnknownKeyWithoutAValueIsAnError(_ text: String) async throws {
        #expect(try await message(file: text).contains("Unknown setting"))
    }

    @Test func anEmptyMapIsNoValueAndAnEmptyGroupIsNoError() async throws {
        #expect(try await message(file: "mta:\n  child:\n    maxAgeSec: {}\n").contains("mta.child.maxAgeSec"))
        #expect(try await load(file: "mta: {}\nlog:\n  level: debug\n").values.log.level == "debug")
    }

    @Test func flagsAndTimesOfDayAreRead() async throws {
        let file = "mta:\n  master:\n    processRestartTime: 16:30:00\n  child:\n    retryLostMessages: false\n"
        let loaded = try await load(file: file)
        #expect(loaded.values.mta.master.processRestartTime == "16:30:00")
        #expect(!loaded.values.mta.child.retryLostMessages)
        let other = try await load(
            file: file,
            environment: ["PUSHMTA_MTA_CHILD_RETRY_LOST_MESSAGES": "true"],
            flags: ["mta.master.processRestartTime="]
        )
        #expect(other.values.mta.master.processRestartTime.isEmpty)
        #expect(other.values.mta.child.retryLostMessages)
    }

    @Test(arguments: ["6:00:00", "24:00:00", "06:60:00", "06:00", "daily", "06:00:00 "])
    func aWrongTimeOfDayIsRefused(_ text: String) async throws {
        #expect(try await message(flags: ["mta.master.processRestartTime=\(text)"]).contains("06:00:00"))
    }

    @Test(arguments: ["", "maybe", "1"])
    func aWrongFlagIsRefused(_ text: String) async throws {
        #expect(try await message(flags: ["mta.child.retryLostMessages=\(text)"]).contains("true or false"))
    }

    @Test(arguments: ["-3", "0", "9999999", "many", "1.5"])
    func aWrongValueIsAnErrorThatSaysWhatIsRight(_ value: String) async throws {
        for text in [
            try await message(file: "mta:\n  child:\n    maxAgeSec: \(value)\n"),
            try await message(environment: ["PUSHMTA_MTA_CHILD_MAX_AGE_SEC": value]),
            try await message(flags: ["mta.child.maxAgeSec=\(value)"]),
        ] {
            #expect(text.contains("mta.child.maxAgeSec"))
            #expect(text.contains("1 to 604800"))
        }
    }

    @Test func aWordThatIsNotInTheListIsRefused() async throws {
        #expect(try await message(flags: ["log.level=loud"]).contains("trace, debug, info"))
    }

    @Test(arguments: [
        "- a list\n", "a: [\n", "\u{0}", "mta: 5\n", "mta:\n  child:\n    maxAgeSec: [1]\n",
    ])
    func aFileThatIsNoSettingsIsRefused(_ text: String) async throws {
        #expect(try await !message(file: text).isEmpty)
    }

    @Test func aMissingFileIsRefused() async throws {
        let error = await #expect(throws: SettingsError.self) {
            try await SettingsLoader(file: "/nowhere/pushmta.yaml", environment: [:], flags: []).load()
        }
        #expect(try #require(error).message.contains("/nowhere/pushmta.yaml"))
    }

    @Test func leaseAndRenewalMustFitTogether() async throws {
        #expect(
            try await message(flags: ["mta.lease.durationSec=10", "mta.lease.renewalSec=5"]).contains("less than half")
        )
    }

    @Test func whatIsWrittenIsReadBack() async throws {
        var settings = Settings()
        settings.database.url = "host=/tmp/\"x\\ y\" password='é'"
        settings.mta.child.dispatchWindow = 77
        settings.mta.workingPath = "/srv/a b"
        settings.log.level = "debug"
        settings.mta.child.retryLostMessages = false
        settings.mta.master.processRestartTime = "23:59:59"
        #expect(try await load(file: SettingsText.yaml(settings)).values == settings)
    }
}
