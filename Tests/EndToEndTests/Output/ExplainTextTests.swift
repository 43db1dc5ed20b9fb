import Testing

@testable import Administration
@testable import Store
@testable import pushmta

@Suite struct ExplainTextTests {
    @Test func longReasonsWrapBelowTheirRow() {
        let why =
            "messages are claimed, read and made no faster: the database, or the processors of the host; "
            + "and so on. "
        let row = LimitRow(
            subject: "child 12 on push-1",
            limit: "rate",
            now: "800 messages/s",
            maximum: "",
            setBy: "nobody",
            binds: true,
            why: String(repeating: why, count: 3)
        )
        let lines = ExplainCommand.text([row], width: 80).split(separator: "\n")
        #expect(lines.count > 4 && lines.allSatisfy { DisplayWidth.of(String($0)) <= 80 }, "\(lines)")
        #expect(lines.count > 1 && lines[1].hasPrefix("now"))
    }

    @Test func theCommandThatSetsALimitIsNotCut() {
        let command = "pushmta account set sample-android-with-a-long-name"
        let row = LimitRow(
            subject: "sample-android over sample-android-with-a-long-name",
            limit: "account",
            now: "not active",
            maximum: "",
            setBy: command,
            binds: true,
            why: ""
        )
        #expect(ExplainCommand.text([row], width: 80).contains(command))
    }
}
