import ProcessProtocol
import PushCore
import Testing

@Suite struct ChildArgumentsTests {
    private let arguments = ChildArguments(
        childID: 12,
        hostID: "6f9c1f4e-0000-4000-8000-000000000001",
        generation: 3,
        applicationID: 4,
        accountID: 5,
        connector: .androidV2,
        journalFile: "/var/lib/push mta/child-12.journal",
        globalOptions: ["--config", "/etc/pushmta.yaml", "-v"]
    )

    @Test func whatIsBuiltIsParsed() throws {
        #expect(try ChildArguments(parsing: arguments.commandLine) == arguments)
        #expect(try ChildArguments(parsing: arguments.commandLine.dropFirst()) == arguments)
    }

    @Test func identitiesAreThereOrNot() throws {
        var known = arguments
        known.bootID = "0bd1c2d7-9b5e-4b68-8f55-0f6a3e5a9c11"
        known.installationID = "9f6a1e52-3c56-4c1b-b6a1-9b8a5cb45e01"
        #expect(try ChildArguments(parsing: known.commandLine) == known)
        #expect(!arguments.commandLine.contains("--boot-id"))
        let wrong = known.commandLine.map { $0 == known.bootID ? "yesterday" : $0 }
        #expect(throws: ChildArgumentsError.invalid("--boot-id", "yesterday")) { try ChildArguments(parsing: wrong) }
    }

    @Test func valuesMayBeAttachedAndOthersStandBetween() throws {
        let line = "--config=x --child-id=7 --host-id h --generation=1 --application 1 --account=2"
        let rest = "--connector=ios-http2 --journal=/a=b"
        let parsed = try ChildArguments(parsing: "\(line) \(rest)".split(separator: " ").map(String.init))
        #expect(parsed.childID == 7)
        #expect(parsed.journalFile == "/a=b")
        #expect(parsed.globalOptions == ["--config=x"])
    }

    @Test func mistakesAreNamed() {
        let line = arguments.commandLine
        #expect(throws: ChildArgumentsError.missing("--child-id")) { try ChildArguments(parsing: []) }
        let twice = line + ["--account", "1"]
        #expect(throws: ChildArgumentsError.repeated("--account")) { try ChildArguments(parsing: twice) }
        let endless = ["--journal"]
        #expect(throws: ChildArgumentsError.missingValue("--journal")) { try ChildArguments(parsing: endless) }
        var wrong = line
        wrong[2] = "-1"
        #expect(throws: ChildArgumentsError.invalid("--child-id", "-1")) { try ChildArguments(parsing: wrong) }
        wrong = line.map { $0 == "android-v2" ? "android-v9" : $0 }
        #expect(throws: ChildArgumentsError.invalid("--connector", "android-v9")) { try ChildArguments(parsing: wrong) }
    }

    @Test func theMessageSaysWhatIsPossible() {
        let text = ChildArgumentsError.invalid("--connector", "x").description
        #expect(text.contains("ios-http2") && text.contains("android-v2"))
    }
}
