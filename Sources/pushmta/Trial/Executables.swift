import Foundation

/// Where the programs of this product are.
enum Executables {
    /// This program.
    static var pushmta: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    /// The gateway simulator, which lies beside this program.
    ///
    /// - Throws: `CommandFailure` if it is not there.
    static func gatewaySimulator() throws -> String {
        let path = URL(fileURLWithPath: pushmta).deletingLastPathComponent().appendingPathComponent("gateway-simulator").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandFailure(.unavailable, "\(path) is not there: build it with swift build -c release --product gateway-simulator")
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
