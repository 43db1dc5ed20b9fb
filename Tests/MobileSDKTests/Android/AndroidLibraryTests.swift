import Foundation
import Testing

/// What an Android app links: the library's form, its layer on stubs of Android, and Adobe's samples within apps.
@Suite(.timeLimit(.minutes(5))) struct AndroidLibraryTests {
    @Test func formAndTestsInJava() async throws {
        let library = try await AndroidLibrary()
        defer { library.remove() }
        #expect(library.form.status == 0 && library.form.output.hasPrefix("an aar with "), "\(library.form.output)")
        let tests = try await library.runTests()
        // None was left out.
        let written = tests.sources.components(separatedBy: "\n    void test").count - 1
        #expect(written > 10 && tests.run.status == 0)
        #expect(tests.run.output.hasSuffix("passed \(written), failed 0\n"), "\(tests.run.output)")
    }

    @Test func adobesSamples() async throws {
        let library = try await AndroidLibrary()
        defer { library.remove() }
        let build = try await library.buildSamples()
        try #require(build.status == 0, "\(build.output)")
        #expect(build.output == "compiled 22 samples in 4 apps\n")
        try expectSamplesUnchanged(in: Self.apps.keys.flatMap { try library.sources(ofApp: $0) })
        for (app, expected) in Self.apps {
            let server = try await SmallServer.start { _ in (200, [:], "") }
            let arguments = [server.base, "key", "token", "me@example.com", "12345", "64"]
            let run = try await library.run(app: app, arguments)
            #expect(run.status == 0 && run.output.hasSuffix("done\n"), "\(app): \(run.output)")
            #expect(server.requests.map(\.uri) == expected, "\(app)")
            let registrations = server.requests.map(\.body).filter { !$0.isEmpty }
            for (body, token) in zip(registrations, ["token", "token2"]) {
                #expect(body.hasPrefix("registrationToken=\(token)&mobileAppUuid=key&userKey=me%40example.com&"))
            }
            #expect(registrations.last?.contains("Oslo") ?? true)
            try await server.stop()
        }
    }

    private static let registration = "/nms/mobile/1/registerAndroid.jssp"
    private static let receipt = "/r/?id=h3039,64,1"
    private static let click = "/r/?id=h3039,64,2"

    /// What each app asks the server for.
    private static let apps = [
        "classic": [registration, registration, receipt, click],
        "classic-settings": [receipt, click],
        "v8": [registration, registration, receipt, click, click, receipt],
        "v8-receipts": [receipt, click, receipt],
    ]

    /// What was compiled has each sample byte for byte, but for omissions that became comments and lines in the list of
    /// corrections.
    private func expectSamplesUnchanged(in compiled: [String]) throws {
        let samples = AndroidLibrary.java.appendingPathComponent("samples")
        let list = try String(contentsOf: samples.appendingPathComponent("corrections.txt"), encoding: .utf8)
        let corrections = list.components(separatedBy: "\n\n").map { $0.components(separatedBy: "\n") }
            .filter { $0.count >= 4 && $0[2].hasPrefix("- ") && $0[3].hasPrefix("+ ") }
        #expect(corrections.count == 3)
        let omission = #"/\*(\[?\.{3,}\]?)\*/"#
        let sources = compiled.map { text in
            text.replacingOccurrences(of: omission, with: "$1", options: .regularExpression)
        }
        var count = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: samples.path) where path.contains("/") {
            var sample = try String(contentsOf: samples.appendingPathComponent(path), encoding: .utf8)
            for lines in corrections where lines[0] == path {
                sample = sample.replacingOccurrences(of: lines[2].dropFirst(2), with: lines[3].dropFirst(2))
            }
            #expect(sources.contains { $0.contains(sample) }, "\(path) is in no app as it is written")
            count += 1
        }
        #expect(count == 22)
    }
}
