/// The settings that decide about starting and ending children.
struct SpawnSettings: Sendable, Equatable {
    var startSpareServers = 0
    var minSpareServers = 0
    var maxSpareServers = 2
    /// From the request to drain to SIGTERM.
    var drainTime = Duration.seconds(60)
    /// From SIGTERM to SIGKILL.
    var killDelay = Duration.seconds(10)
    /// How long a child may go without progress, or without a status line.
    var watchdogTime = Duration.seconds(60)
}
