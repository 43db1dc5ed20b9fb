import Subprocess
import SystemPackage

/// Runs a tool to its end.
enum ToolRun {
    /// More output than any of the tools prints.
    private static let outputLimit = 1 << 20

    /// Runs `executable`, as another user if one is given, and returns what it printed on standard output.
    ///
    /// - Throws: `CommandFailure` with the tool's own words if it cannot be started or does not end with status 0.
    @discardableResult
    static func run(_ executable: String, _ arguments: [String], as user: SystemUser? = nil) async throws -> String {
        var options = PlatformOptions()
        if let user {
            options.userID = user.userID
            options.groupID = user.groupID
            options.supplementaryGroups = [user.groupID]
        }
        let name = executable.split(separator: "/").last.map(String.init) ?? executable
        let result = try await Subprocess.run(
            .path(FilePath(executable)),
            arguments: Arguments(arguments),
            workingDirectory: "/",
            platformOptions: options,
            output: .string(limit: outputLimit),
            error: .string(limit: outputLimit)
        )
        guard result.terminationStatus == .exited(0) else {
            let words = (result.standardError + result.standardOutput).split(separator: "\n").suffix(5).joined(separator: "; ")
            throw CommandFailure(.unavailable, "\(name) ended with \(result.terminationStatus): \(words)")
        }
        return result.standardOutput
    }
}
