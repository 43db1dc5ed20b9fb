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

    /// The systems on the page are those that the builds ask for.
    @Test func theSystemsOnThePageAreThoseOfTheBuilds() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.tests.appending(path: "../../" + path), encoding: .utf8)
        }
        let page = try text("Config/sdk.md")
        let swift = try #require(page.firstMatch(of: /for Swift .* iOS (\d+), macOS (\d+) and later/)).output
        #expect(try text("Package.swift").contains("platforms: [.macOS(.v\(swift.2)), .iOS(.v\(swift.1))]"))
        let objectiveC = try #require(page.firstMatch(of: /for Objective-C .* iOS (\d+) and later/)).output
        #expect(try text("Sources/MobileSDKObjectiveC/build-xcframework").contains("\noldest=\(objectiveC.1).0\n"))
        let android = try #require(page.firstMatch(of: /for Android .* \(API level (\d+)\) and later/)).output
        #expect(try text("Sources/MobileSDKAndroid/android/build.gradle").contains("minSdk \(android.1)\n"))
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
