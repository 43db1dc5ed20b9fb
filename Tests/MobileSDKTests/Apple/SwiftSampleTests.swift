import Foundation
import Testing

/// The samples of the SDK in Swift compile unchanged, against stubs of Apple's frameworks.
@Suite(.timeLimit(.minutes(5))) struct SwiftSampleTests {
    private static let stubs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Stubs")
    private static let sdk = stubs.appending(path: "../../../../Sources/MobileSDK").standardizedFileURL

    /// Linux has Objective-C's attributes with these alone; nothing is linked.
    private static let objectiveC = [
        "-Xfrontend", "-enable-objc-interop", "-Xfrontend", "-disable-objc-attr-requires-foundation-module",
    ]

    private static func swift(in folder: URL, _ arguments: [String], _ files: [URL]) async throws -> Program {
        try await Program.run(
            path: "/usr/bin/env",
            ["swiftc", "-parse-as-library", "-warnings-as-errors", "-I", folder.path] + objectiveC + arguments
                + files.map(\.path),
            in: folder
        )
    }

    private static func stub(_ name: String) -> URL { stubs.appending(path: "\(name).swift") }

    private static func makeModule(_ name: String, of files: [URL], in folder: URL) async throws {
        let module = folder.appending(path: "\(name).swiftmodule").path
        let made = try await swift(
            in: folder,
            ["-swift-version", "6", "-emit-module", "-module-name", name, "-emit-module-path", module],
            files
        )
        try #require(made.status == 0, "\(name): \(made.output)")
    }

    private static func swiftFiles(below folder: URL) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.sorted()
            .map { folder.appending(path: $0) }
    }

    /// In the language mode of new apps and in the one of older ones, without a warning.
    @Test func theSamplesCompile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "SwiftSamples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try Self.swiftFiles(below: Self.sdk.appending(path: "Samples"))
        #expect(samples.count == 3)
        let library = try Self.swiftFiles(below: Self.sdk).filter { !samples.map(\.path).contains($0.path) }
        // The SDK uses it where it is there, and the last one imports another.
        try await Self.makeModule("UserNotifications", of: [Self.stub("UserNotifications")], in: folder)
        try await Self.makeModule("MobileSDK", of: library, in: folder)
        for name in ["UIKit", "UserNotificationsUI"] {
            try await Self.makeModule(name, of: [Self.stub(name)], in: folder)
        }
        for mode in ["5", "6"] {
            let checked = try await Self.swift(in: folder, ["-swift-version", mode, "-typecheck"], samples)
            #expect(checked.status == 0, "Swift \(mode): \(checked.output)")
        }
        // A call that the SDK does not have is seen, or the test would pass for nothing.
        let text = try String(contentsOf: samples[0], encoding: .utf8)
        let wrong = folder.appending(path: "Wrong.swift")
        try text.replacing("retryNow()", with: "retryLater()").write(to: wrong, atomically: true, encoding: .utf8)
        let refused = try await Self.swift(in: folder, ["-typecheck"], [wrong])
        #expect(refused.status != 0 && refused.output.contains("retryLater"), "\(refused.output)")
    }
}
