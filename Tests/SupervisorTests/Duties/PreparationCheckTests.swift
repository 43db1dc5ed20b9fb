import PushCore
import Store
import Testing

@testable import Supervisor

@Suite struct PreparationCheckTests {
    private func problem(_ content: String, variables: String = "[]", sounds: String = "[]") -> String? {
        let application = ApplicationRow(
            id: 1,
            serviceID: 1,
            name: "shop-ios",
            label: "",
            platform: .ios,
            environment: .production,
            integrationKey: "k",
            bundleID: "com.shop",
            messageIDFormat: .uuid,
            accountID: 1,
            credentialID: 1,
            variables: variables,
            sounds: sounds
        )
        let account = AccountRow(
            id: 1,
            name: "apns",
            connector: .iosHTTP2,
            host: "h",
            port: 443,
            options: "{}",
            active: true
        )
        return PreparationCheck.problem(
            with: PreparationJob(
                deliveryID: 16,
                label: "",
                content: content,
                applications: [application],
                accounts: [account],
                credentials: [nil]
            )
        )
    }

    private let declared = #"[{"name": "screen", "type": "text", "default": "home"}]"#

    @Test func whatIsNotDeclaredIsRefusedBeforeAnythingIsMade() {
        let content = #"{"ios": {"title": "x", "sound": "chme.caf", "variables": {"scren": "cart"}}}"#
        #expect(problem(content) == nil, "nothing is declared")
        #expect(problem(content, variables: declared)?.contains("did you mean screen") == true)
        #expect(problem(content, sounds: #"[{"name": "chime.caf"}]"#)?.contains("did you mean chime.caf") == true)
        #expect(problem(#"{"ios": {"title": "x", "variables": {"screen": "cart"}}}"#, variables: declared) == nil)
        #expect(
            problem(content, variables: #"[{"type": "?"}]"#) == nil,
            "what is not understood is left to a newer program"
        )
    }

    @Test func defaultsCountForTheSize() {
        let long = String(repeating: "x", count: 4_200)
        #expect(problem(#"{"ios": {"title": "x"}}"#, variables: declared) == nil)
        let variables = #"[{"name": "screen", "type": "text", "default": "\#(long)"}]"#
        #expect(problem(#"{"ios": {"title": "x"}}"#, variables: variables) != nil)
        #expect(problem(#"{"ios": {"title": "x", "variables": {"screen": "cart"}}}"#, variables: variables) == nil)
    }
}
