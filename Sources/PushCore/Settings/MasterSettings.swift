/// The supervisor of one host ("master" in Adobe's terms).
package struct MasterSettings: Sendable, Equatable {
    /// The time between two queries of the database while there is no work, in seconds (1 s while there is work).
    package var dataBasePoolPeriodSec = 30
    /// The maximum time between two attempts to reach an unreachable database, in seconds.
    package var dataBaseRetryDelaySec = 10
    /// The maximum number of children on this host, for all applications and external accounts together.
    package var maxSpareServers = 2
    /// The maximum number of additional children, for applications that have little to send.
    package var maxSmallChildren = 16
    /// The number of database connections that this host leaves free for people and other programs.
    package var freeDatabaseConnections = 10
    /// The number of children that stay on this host even without work.
    package var minSpareServers = 0
    /// The number of children that the supervisor starts at once when it starts, without the limit of one spawn a
    /// second.
    package var startSpareServers = 0
    /// How long children may take to resolve messages in flight after they are asked to end, in seconds. Then they are
    /// killed with SIGKILL.
    package var drainTimeoutSec = 60
    /// The executable of the MTA children. Empty: the supervisor's executable.
    package var executablePath = ""
    /// The time of day, in this host's time zone, at which the children are replaced one by one; ``TimeOfDay`` parses
    /// it. Empty: never.
    package var processRestartTime = "06:00:00"

    /// Creates the settings with their defaults.
    package init() {}
}
