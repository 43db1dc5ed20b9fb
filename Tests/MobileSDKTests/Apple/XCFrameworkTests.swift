import Foundation
import Testing

/// What `build-xcframework` asks of Xcode, which runs on macOS alone.
@Suite(.timeLimit(.minutes(1))) struct XCFrameworkTests {
    /// Each source is compiled for each kind of device, and each library is in the framework with the header.
    @Test func everySourceIsBuiltForEveryKindOfDevice() async throws {
        let sdk = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/MobileSDKObjectiveC").standardizedFileURL
        let folder = FileManager.default.temporaryDirectory.appending(path: "XCFramework-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try await Program.run(
            path: sdk.appending(path: "build-xcframework").path,
            ["--print", "/out"],
            in: folder
        )
        try #require(run.status == 0, "\(run.output)")
        let calls = run.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let sources = try FileManager.default.subpathsOfDirectory(atPath: sdk.path).filter { $0.hasSuffix(".m") }
        #expect(sources.count > 1)
        let kinds = [
            ("iphoneos", "arm64-apple-ios15.0"), ("iphonesimulator", "arm64-apple-ios15.0-simulator"),
            ("iphonesimulator", "x86_64-apple-ios15.0-simulator"),
        ]
        for (name, target) in kinds {
            let compiled = calls.filter { $0.starts(with: ["xcrun", "--sdk", name, "clang", "-target", target]) }
            #expect(Set(compiled.compactMap(\.last)) == Set(sources.map { sdk.appending(path: $0).path }), "\(target)")
        }
        // A library has what was compiled for it, and nothing that another takes the name of.
        for name in Set(kinds.map(\.0)) {
            let objects = calls.filter { $0.starts(with: ["xcrun", "--sdk", name, "clang"]) }
                .compactMap { call in call.firstIndex(of: "-o").map { call[$0 + 1] } }
            let library = try #require(calls.first { $0.starts(with: ["xcrun", "--sdk", name, "libtool"]) })
            #expect(library.suffix(objects.count) == objects[...] && Set(objects).count == objects.count, "\(name)")
        }
        let last = try #require(calls.last)
        #expect(last.starts(with: ["xcodebuild", "-create-xcframework"]))
        #expect(last.filter { $0.hasSuffix("/libNeolaneSDK.a") }.count == 2)
        #expect(last.filter { $0 == sdk.appending(path: "include").path }.count == 2)
    }
}
