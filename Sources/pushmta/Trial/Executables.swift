import Foundation

/// Where the programs of this product are.
struct Executables: Sendable {
    /// Their folder.
    private let folder: String

    /// The programs in a folder; in that of this program if none is given.
    init(folder: String? = nil) {
        let own =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        self.folder = folder ?? URL(fileURLWithPath: own).deletingLastPathComponent().path
    }

    /// The command line's program.
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
