import Administration
import Foundation

/// The paths of PushMTA's programs.
struct Executables: Sendable {
    private let folder: String

    /// The programs in a folder; by default in this program's folder.
    init(folder: String? = nil) {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        self.folder = folder ?? URL(fileURLWithPath: own).deletingLastPathComponent().path
    }

    /// The program for all of PushMTA's processes.
    var pushmta: String { folder + "/pushmta" }

    /// The path of a library in the programs' folder, whether it exists or not.
    func library(_ name: String) -> String { folder + "/" + name }

    /// The gateway simulator.
    ///
    /// - Throws: `CommandFailure` if it does not exist.
    func gatewaySimulator() throws -> String {
        let path = folder + "/gateway-simulator"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandFailure(
                .unavailable,
                "\(path) does not exist: build it with swift build -c release --product gateway-simulator"
            )
        }
        return path
    }
}

extension Executables {
    /// The path of a system tool.
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
