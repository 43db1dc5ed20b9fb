import Administration
import Foundation
import Subprocess
import SystemPackage

/// Runs a tool and waits for it.
enum ToolRun {
    /// More than any of the tools prints, in bytes.
    private static let outputLimit = 1 << 20

    /// Runs `executable`, optionally as another user, and returns its standard output.
    ///
    /// - Throws: `CommandFailure` with the tool's error output if it cannot be started or does not exit with status 0.
    @discardableResult
    static func run(
        _ executable: String,
        _ arguments: [String],
        as user: SystemUser? = nil,
        environment: [String: String?] = [:]
    ) async throws -> String {
        let command = Self.command(executable, arguments, user)
        let name = executable.split(separator: "/").last.map(String.init) ?? executable
        let result = try await Subprocess.run(
            .path(FilePath(command[0])),
            arguments: Arguments(Array(command.dropFirst())),
            environment: .inherit.updating(
                Dictionary(uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0.key), $0.value) })
            ),
            workingDirectory: "/",
            output: .string(limit: outputLimit),
            error: .string(limit: outputLimit)
        )
        guard result.terminationStatus == .exited(0) else {
            let words = (result.standardError + result.standardOutput).split(separator: "\n").suffix(5).joined(
                separator: "; "
            )
            throw CommandFailure(.unavailable, "\(name) ended with \(result.terminationStatus): \(words)")
        }
        return result.standardOutput
    }

    /// The command line; for another user, prefixed with setpriv (util-linux).
    ///
    /// The spawning library would change the user in a forked copy of this process. There, glibc waits for threads that
    /// the copy does not have, so the copy sometimes hangs forever.
    private static func command(_ executable: String, _ arguments: [String], _ user: SystemUser?) -> [String] {
        guard let user else { return [executable] + arguments }
        return [
            "/usr/bin/setpriv", "--reuid", String(user.userID), "--regid", String(user.groupID), "--clear-groups",
            executable,
        ]
            + arguments
    }
}
