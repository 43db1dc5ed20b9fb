/// The settings for starting and ending children.
struct SpawnSettings: Sendable, Equatable {
    var startSpareServers = 0
    var minSpareServers = 0
    var maxSpareServers = 2
    /// Children in addition to ``maxSpareServers``, for kinds that have little to send.
    var maxSmallChildren = 0
    /// Connections of the database server to leave free.
    var freeConnections = 10
    /// From the request to drain to SIGTERM.
    var drainTime = Duration.seconds(60)
    /// From SIGTERM to SIGKILL.
    var killDelay = Duration.seconds(10)
    /// The maximum time without progress, or without a status line.
    var watchdogTime = Duration.seconds(60)

    /// The maximum number of children, large and small.
    var maxChildren: Int { maxSpareServers + maxSmallChildren }
}
