import PushCore

/// How a drill's host differs from the default.
struct DrillHostSetup: Sendable {
    /// The maximum number of children.
    var children = 2
    /// The database's connection string. `nil`: the site's cluster, over its socket.
    var database: String?
    /// A command that executes the supervisor, such as `ip netns exec NAME`.
    var wrapper: [String] = []
    /// Environment variables for the supervisor and its children.
    var environment: [String: String] = [:]
    /// The folder of the journals. `nil`: a folder within the host's.
    var journalFolder: String?
    /// Changes the settings before they are written.
    var adjust: @Sendable (inout Settings) -> Void = { _ in }
}

extension DrillHostSetup {
    /// A host with the numbers of spare children from the default settings. Their maximum is also its maximum of
    /// children.
    static var usualChildren: DrillHostSetup {
        let defaults = MasterSettings()
        return DrillHostSetup(children: defaults.maxSpareServers) {
            $0.mta.master.minSpareServers = defaults.minSpareServers
            $0.mta.master.startSpareServers = defaults.startSpareServers
        }
    }
}
