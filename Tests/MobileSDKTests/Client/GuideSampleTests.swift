import Foundation
import MobileSDK
import Testing

/// The code of `Config/sdk.md` is code that compiles and does what it says.
@Suite struct GuideSampleTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    @Test func theSwiftOnThePageIsWhatIsCompiledHere() throws {
        let page = try String(
            contentsOf: Self.tests.appending(path: "../../Config/sdk.md"),
            encoding: .utf8
        )
        let code = try String(contentsOf: Self.tests.appending(path: "Support/ShopPush.swift"), encoding: .utf8)
        let chapter = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix("PushMTA for Swift") })
        let shown = try #require(chapter.components(separatedBy: "```swift\n").dropFirst().first)
        #expect(shown.components(separatedBy: "```").first == code)
    }

    /// The page says so, and people look for deliveries by it.
    @Test func theDeliverysIDIsHexadecimal() {
        let message = PushMessage(userInfo: ["_mId": "7", "_dId": "64"])
        #expect(message.deliveryID == "64" && Int64("64", radix: 16) == 100)
    }

    /// Nothing is sent without hosts: what is called is what compiles.
    @Test func theSampleRunsToItsEnd() async {
        let push = ShopPush()
        push.opened(["_mId": "7", "_dId": "64"])
        await push.arrived([:])
        #expect(await push.register(Data([1])) == .marketingHostEmpty)
    }
}
