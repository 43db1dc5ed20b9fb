import Foundation

/// What a drill needs from the machine.
enum DrillNeed: Sendable, Equatable {
    /// Root privileges.
    case root
    /// A system tool, and the Debian package that contains it.
    case tool(String, package: String)
    /// Network namespaces, which need root and `ip netns`.
    case networkNamespaces
    /// PushMTA's own simulator: faults cannot be injected into another gateway.
    case simulator
    /// Crash points, which exist only in debug builds.
    case crashPoints

    /// Whether the need depends on the build or the gateway, so that no change to the machine can meet it.
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
        case .simulator: hasSimulator ? nil : "it needs PushMTA's own simulator"
        case .crashPoints: hasCrashPoints ? nil : "it needs a debug build, which has crash points"
        }
    }

    private static func obstacle(tool name: String, _ package: String) -> String? {
        (try? Executables.tool(name, package: package)) == nil ? "\(name) is not installed (package \(package))" : nil
    }
}
