import Foundation
import Subprocess
import SystemPackage
import Testing

@testable import Administration
@testable import Laboratory

/// Runs the product's programs as users do.
struct Program: Sendable {
    /// The maximum output in bytes, more than any command prints.
    private static let outputLimit = 4 << 20

    /// The result of a run.
    struct Ending: Sendable {
        let status: Int32
        let output: String
        let errors: String

        /// The only line of standard output as a JSON object.
        func json() throws -> [String: Any] {
            let lines = output.split(separator: "\n")
            #expect(lines.count == 1, "standard output: \(output); standard error: \(errors)")
            return try #require(try JSONSerialization.jsonObject(with: Data((lines.last ?? "").utf8)) as? [String: Any])
        }

        /// Standard output as a JSON array of objects.
        func rows() throws -> [[String: Any]] {
            try #require(
                try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]],
                "\(output) \(errors)"
            )
        }
    }

    /// The program's file.
    let path: String

    /// `pushmta`, built with the tests.
    static func pushmta() throws -> Program { try built("pushmta") }

    /// `pushmta-lab`, built with the tests.
    static func lab() throws -> Program { try built("pushmta-lab") }

    private static func built(_ name: String) throws -> Program {
        let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        let builds = ["/.build/debug", "/.build-debug/debug"]
        let folders = [beside] + builds.map { ProjectFolder.path + $0 }
        let found = folders.map { $0 + "/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        return Program(path: try #require(found, "\(name) is not built"))
    }

    /// Runs the program to its end with these arguments.
    func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Ending {
        let updates = environment.map { (Environment.Key(stringLiteral: $0.key), Optional($0.value)) }
        let result = try await Subprocess.run(
            .path(FilePath(path)),
            arguments: Arguments(arguments),
            environment: .inherit.updating(Dictionary(uniqueKeysWithValues: updates)),
            output: .string(limit: Self.outputLimit),
            error: .string(limit: Self.outputLimit)
        )
        var status: Int32 = -1
        if case .exited(let code) = result.terminationStatus { status = code }
        return Ending(status: status, output: result.standardOutput, errors: result.standardError)
    }
}
