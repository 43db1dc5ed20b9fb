import Foundation
import Testing

/// The library for Android as `Deploy/package-android` makes it, with stubs of Android's classes to run it on, in a
/// folder that is gone with `remove`.
struct AndroidLibrary {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Stubs, samples, the apps around them, and what checks all that.
    static let java = root.appendingPathComponent("Tests/MobileSDKTests/Android/Java")

    private let folder: URL
    private let sdk = Self.root.appendingPathComponent("Sources/MobileSDKAndroid")

    /// What the check of the library's form said.
    let form: Program

    /// The class path of an app: the library's classes and the device's.
    private var app: String { "\(path("classes.jar")):\(path("stubs"))" }

    private static func sources(_ folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".java") }
            .map { "\(folder.path)/\($0)" }.sorted()
    }

    /// Makes the library, compiles the stubs, and looks at the library, which unpacks its classes.
    init() async throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("AndroidLibrary-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = Self.root.appendingPathComponent("Deploy/package-android").path
        let packing = try await Program.run("bash", [script, "--output", folder.path], in: folder)
        try #require(packing.status == 0, "\(packing.output)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let library = try #require(files.first { $0.hasSuffix(".aar") }, "\(files)")
        let checks = ["AarCheck", "SampleBuild"].map { "\(Self.java.path)/checks/\($0).java" }
        let stubs = Self.java.appendingPathComponent("stubs")
        try await Self.compile(try Self.sources(stubs), to: "stubs", classPath: "", in: folder)
        try await Self.compile(checks, to: "tools", classPath: "", in: folder)
        let classPath = "\(folder.path)/tools:\(folder.path)/stubs"
        let arguments = ["\(folder.path)/\(library)", sdk.path, stubs.path, folder.path]
        form = try await Program.run("java", ["-cp", classPath, "AarCheck"] + arguments, in: folder)
    }

    private static func compile(
        _ sources: [String],
        to name: String,
        classPath: String,
        in folder: URL
    ) async throws {
        let options = ["-encoding", "UTF-8", "-d", "\(folder.path)/\(name)", "-cp", classPath]
        let compiler = try await Program.run("javac", options + sources, in: folder)
        try #require(compiler.status == 0, "\(compiler.output)")
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs the tests of the layer for apps and of Adobe's calls; the text of these tests.
    func runTests() async throws -> (run: Program, sources: String) {
        let checks = try Self.sources(Self.java.appendingPathComponent("checks/io"))
        let shared = try Self.sources(sdk.appendingPathComponent("src/test/java"))
        try await Self.compile(checks + shared, to: "checks", classPath: app, in: folder)
        let options = ["-Dfile.encoding=UTF-8", "-cp", "\(app):\(path("checks"))"]
        let run = try await Program.run("java", options + ["io.pushmta.sdk.AndroidTestMain"], in: folder)
        return (run, try checks.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined())
    }

    /// Compiles the samples within their apps.
    func buildSamples() async throws -> Program {
        let arguments = ["-cp", path("tools"), "SampleBuild", Self.java.path, path("apps"), app]
        return try await Program.run("java", arguments, in: folder)
    }

    /// The files of an app as they were compiled.
    func sources(ofApp name: String) throws -> [String] {
        let source = folder.appendingPathComponent("apps/\(name)/source")
        return try FileManager.default.contentsOfDirectory(atPath: source.path)
            .map { try String(contentsOf: source.appendingPathComponent($0), encoding: .utf8) }
    }

    /// Runs an app that `buildSamples` has compiled.
    func run(app name: String, _ arguments: [String]) async throws -> Program {
        let options = ["-cp", "\(app):\(path("apps/\(name)/classes"))", "com.android.YourApplication.Run"]
        return try await Program.run("java", options + arguments, in: folder)
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
