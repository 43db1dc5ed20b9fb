import PushCore

/// How a host of a drill differs from the usual one.
struct DrillHostSetup: Sendable {
    /// The most children.
    var children = 2
    /// The database's connection string; `nil`: the site's cluster over its socket.
    var database: String?
    /// A command that becomes the supervisor, such as `ip netns exec NAME`.
    var wrapper: [String] = []
    /// Variables that supervisor and children get.
    var environment: [String: String] = [:]
    /// The folder of the journals; `nil`: in the host's own folder.
    var journalFolder: String?
    /// Changes the settings before they are written.
    var adjust: @Sendable (inout Settings) -> Void = { _ in }
}
