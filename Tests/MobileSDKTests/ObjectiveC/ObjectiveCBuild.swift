import Foundation
import Testing

/// The library in Objective-C and the programs that test it, compiled with GNUstep into a folder that is gone with `remove`.
///
/// `Fixtures/build` compiles, and fails with the names of Debian packages where a compiler or GNUstep is missing.
struct ObjectiveCBuild {
    /// What compiles the library: Debian's GCC for Objective-C, and Swift's clang for GCC's runtime.
    enum Compiler: String, CaseIterable {
        case gcc, clang
    }

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    let folder: URL
    private let compiler: Compiler

    /// Compiles the library; a warning is an error.
    init(_ compiler: Compiler) async throws {
        self.compiler = compiler
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("ObjectiveCSDK-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await script("build", ["library", compiler.rawValue, folder.path])
    }

    /// The files of the pages' samples.
    static func samples() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: fixtures.appendingPathComponent("Samples"),
            includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    private func script(_ name: String, _ arguments: [String]) async throws {
        let path = Self.fixtures.appendingPathComponent(name).path
        let ending = try await Program.run(path: path, arguments, in: folder)
        try #require(ending.status == 0, "\(name) \(arguments): \(ending.output)")
    }

    /// Puts what the pages leave to the reader around the samples.
    func wrapSamples() async throws {
        try await script("wrap", [folder.path, "app"])
    }

    /// Compiles a wrapped sample as it stands.
    func compileSample(_ name: String) async throws {
        let file = folder.appendingPathComponent(name)
        try await script("build", ["object", file.deletingPathExtension().path + ".o", file.path])
    }

    /// Makes a program of a file of `Programs` and others, which are paths in `Fixtures` or in the folder.
    func make(_ program: String, _ others: [String] = []) async throws {
        let files = ["Programs/\(program).m"] + others
        let paths = files.map { name in
            let ours = Self.fixtures.appendingPathComponent(name).path
            return FileManager.default.fileExists(atPath: ours) ? ours : folder.appendingPathComponent(name).path
        }
        try await script("build", ["program", compiler.rawValue, folder.path] + paths)
    }

    /// Runs a program as an app with files of its own; another home is another phone.
    func run(_ program: String, home: String, _ arguments: [String]) async throws -> Program {
        let home = folder.appendingPathComponent(home)
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        // GNUstep takes its folders from the person's home, whatever HOME says.
        let settings = """
            GNUSTEP_USER_DIR_LIBRARY=\(home.path)/Library
            GNUSTEP_USER_DEFAULTS_DIR=\(home.path)/Defaults

            """
        let file = home.appendingPathComponent("GNUstep.conf")
        try settings.write(to: file, atomically: true, encoding: .utf8)
        return try await Program.run(
            path: folder.appendingPathComponent(program).path,
            arguments,
            environment: ["GNUSTEP_CONFIG_FILE": file.path, "LC_ALL": "C.UTF-8"],
            in: home
        )
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}

extension Program {
    /// The lines that the program printed, without what GNUstep and the samples log.
    var told: [String] {
        output.split(separator: "\n").map(String.init).filter { line in
            ["status ", "completed ", "tracked", "not tracked", "nothing came"].contains { line.hasPrefix($0) }
        }
    }
}
