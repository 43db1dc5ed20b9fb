import Foundation

/// A program that runs to its end.
struct Program {
    struct Missing: Error, CustomStringConvertible {
        var program: String
        var description: String { "\(program) is missing: apt-get install openjdk-17-jdk-headless" }
    }

    var status: Int32
    var output: String

    /// Runs a program that is looked for where Debian puts programs; both of its outputs go to one file.
    static func run(_ name: String, _ arguments: [String], in folder: URL) async throws -> Program {
        let places = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { "\($0)/\(name)" }
        guard let path = places.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw Missing(program: name)
        }
        return try await run(path: path, arguments, in: folder)
    }

    /// Runs the program of this file, with other values of some environment variables.
    static func run(
        path: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        in folder: URL
    ) async throws -> Program {
        let name = URL(fileURLWithPath: path).lastPathComponent
        let file = folder.appendingPathComponent("\(name).out")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Program(status: status, output: try String(contentsOf: file, encoding: .utf8))
    }
}
