import Foundation
import Testing

/// The Android SDK and its tests, compiled for Java 8 into a folder that is gone with `remove`.
struct AndroidBuild {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private let folder: URL
    /// The sources of the tests.
    let tests: [String]

    private static func sources(_ path: String) throws -> [String] {
        let folder = root.appendingPathComponent("Sources/MobileSDKAndroid/\(path)").path
        return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".java") }
            .map { "\(folder)/\($0)" }.sorted()
    }

    /// Compiles. A warning in the library is an error; that Java 8 is old is said by every newer compiler.
    init() async throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("AndroidSDK-\(UUID().uuidString)")
        tests = try Self.sources("src/test/java")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let options = [
            "--release", "8", "-encoding", "UTF-8", "-Xlint:-options", "-d", folder.path, "-cp", folder.path,
        ]
        for arguments in [try ["-Xlint:all", "-Xlint:-options", "-Werror"] + Self.sources("src/main/java"), tests] {
            let compiler = try await Program.run("javac", options + arguments, in: folder)
            try #require(compiler.status == 0, "\(compiler.output)")
        }
    }

    /// Runs one of the tests' programs.
    func run(_ program: String, _ arguments: [String] = []) async throws -> Program {
        // A test prints text of other scripts than the machine's locale may have.
        let options = ["-Dfile.encoding=UTF-8", "-cp", folder.path, "io.pushmta.sdk.\(program)"]
        return try await Program.run("java", options + arguments, in: folder)
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
