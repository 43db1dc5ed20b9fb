import Administration
import Foundation
import Subprocess
import SystemPackage

/// Where the programs of this product are.
struct Executables: Sendable {
    private let folder: String

    /// The programs in a folder; in that of this program if none is given.
    init(folder: String? = nil) {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        self.folder = folder ?? URL(fileURLWithPath: own).deletingLastPathComponent().path
    }

    /// The program of every process of the product.
    var pushmta: String { folder + "/pushmta" }

    /// The path of a library that lies beside the programs, whether it is there or not.
    func library(_ name: String) -> String { folder + "/" + name }

    /// The gateway simulator.
    ///
    /// - Throws: `CommandFailure` if it is not there.
    func gatewaySimulator() throws -> String {
        let path = folder + "/gateway-simulator"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandFailure(
                .unavailable,
                "\(path) is not there: build it with swift build -c release --product gateway-simulator"
            )
        }
        return path
    }
}

extension Executables {
    /// The path of a tool of the system.
    ///
    /// - Throws: `CommandFailure` that names the Debian package if it is not installed.
    static func tool(_ name: String, package: String) throws -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        for folder in folders where FileManager.default.isExecutableFile(atPath: "\(folder)/\(name)") {
            return "\(folder)/\(name)"
        }
        throw CommandFailure(.unavailable, "\(name) is not installed: on Debian, apt-get install \(package)")
    }
}

/// Runs a tool to its end.
enum ToolRun {
    /// More output than any of the tools prints.
    private static let outputLimit = 1 << 20

    /// Runs `executable`, as another user if one is given, and returns what it printed on standard output.
    ///
    /// - Throws: `CommandFailure` with the tool's own words if it cannot be started or does not end with status 0.
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

    /// The command line, for another user through setpriv (util-linux).
    ///
    /// The spawning library changes the user in a forked copy of this process, where glibc waits for threads that the copy
    /// does not have: now and then that copy hangs for ever.
    private static func command(_ executable: String, _ arguments: [String], _ user: SystemUser?) -> [String] {
        guard let user else { return [executable] + arguments }
        return [
            "/usr/bin/setpriv", "--reuid", String(user.userID), "--regid", String(user.groupID), "--clear-groups",
            executable,
        ]
            + arguments
    }
}

/// A user of this machine.
struct SystemUser: Sendable, Equatable {
    /// The login name.
    let name: String
    let userID: UInt32
    /// The id of the user's main group.
    let groupID: UInt32

    /// Whether this user may go through a folder and all above it, as far as they are there.
    func mayEnter(_ folder: String) -> Bool {
        var path = folder
        while path.count > 1 {
            if let one = FileOwnership(path) {
                let bit: UInt32 = one.owner == userID ? 0o100 : one.group == groupID ? 0o010 : 0o001
                guard !one.isFolder || one.permissions & bit != 0 else { return false }
            }
            path = (path as NSString).deletingLastPathComponent
        }
        return true
    }

    /// The user with this login name, read from the machine's list; `nil` if there is none.
    init?(named name: String) {
        guard let list = try? String(contentsOfFile: "/etc/passwd", encoding: .utf8) else { return nil }
        for line in list.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count > 3, fields[0] == name, let user = UInt32(fields[2]), let group = UInt32(fields[3])
            else { continue }
            self.name = name
            userID = user
            groupID = group
            return
        }
        return nil
    }
}
