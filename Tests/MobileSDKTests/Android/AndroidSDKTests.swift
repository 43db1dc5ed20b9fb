import Foundation
import Testing

/// The Android SDK is built for Java 8 and tested in Java: all vectors of Adobe's Android SDK, and the client against a server.
@Suite(.timeLimit(.minutes(5))) struct AndroidSDKTests {
    @Test func testsInJava() async throws {
        let build = try await AndroidBuild()
        defer { build.remove() }
        let run = try await build.run("TestMain")
        #expect(run.status == 0, "\(run.output)")
        // None was left out.
        let written = try build.tests.reduce(0) { count, path in
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return count + text.components(separatedBy: "\n    void test").count - 1
        }
        #expect(written > 30)
        #expect(run.output.hasSuffix("passed \(written), failed 0\n"), "\(run.output)")
    }

    /// The program that stands for a device in tests of servers.
    @Test func aDeviceOnTheCommandLine() async throws {
        let server = try await SmallServer.start { request in
            request.body.contains("mobileAppUuid=other&") ? (404, [:], "Unknown integration key") : (200, [:], "")
        }
        let build = try await AndroidBuild()
        defer { build.remove() }
        let device = try await build.run("LiveMain", [server.base, "key", "token", "user", "12345", "f0190"])
        #expect(device.output == "registered\nreceived\nclicked\n" && device.status == 0)
        #expect(
            server.requests.map(\.uri) == [
                "/nms/mobile/1/registerAndroid.jssp", "/r/?id=h3039,f0190,1", "/r/?id=h3039,f0190,2",
            ]
        )
        let stranger = try await build.run("LiveMain", [server.base, "other", "token", "user"])
        #expect(stranger.output == "UNKNOWN_INTEGRATION_KEY Unknown integration key\n" && stranger.status == 1)
        try await server.stop()
        let lost = try await build.run("LiveMain", [server.base, "key", "token", "user"])
        #expect(lost.output.hasPrefix("no answer: ") && lost.status == 1)
    }
}
