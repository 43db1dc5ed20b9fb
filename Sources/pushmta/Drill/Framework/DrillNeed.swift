import Foundation

/// What a drill needs of the machine.
enum DrillNeed: Sendable, Equatable {
    /// The rights of root.
    case root
    /// A tool of the system, with the Debian package that has it.
    case tool(String, package: String)
    /// Network namespaces: root and `ip netns`.
    case networkNamespaces
    /// The product's own simulator: another gateway cannot be told to misbehave.
    case simulator
    /// Crash points, which only debug builds have.
    case crashPoints

    /// Whether no machine could meet it in this build or with this gateway, whatever is installed or allowed there.
    var isOfConstruction: Bool { self == .simulator || self == .crashPoints }

    /// Why this machine does not meet the need; `nil` if it does.
    ///
    /// - Parameters:
    ///   - hasSimulator: Whether the drill runs against the product's own simulator.
    ///   - hasCrashPoints: Whether this build has crash points.
    func obstacle(hasSimulator: Bool, hasCrashPoints: Bool) -> String? {
        switch self {
        case .root: getuid() == 0 ? nil : "it needs root"
        case .tool(let name, let package): Self.obstacle(tool: name, package)
        case .networkNamespaces:
            getuid() == 0 ? Self.obstacle(tool: "ip", "iproute2") : "it needs root, for network namespaces"
        case .simulator: hasSimulator ? nil : "it needs the product's own simulator"
        case .crashPoints: hasCrashPoints ? nil : "it needs a debug build, which has crash points"
        }
    }

    private static func obstacle(tool name: String, _ package: String) -> String? {
        (try? Executables.tool(name, package: package)) == nil ? "\(name) is not installed (package \(package))" : nil
    }
}
