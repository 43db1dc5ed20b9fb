/// The supervisor of one host ("master" in Adobe's terms).
public struct MasterSettings: Sendable, Equatable {
    /// The time between two looks at the database while there is no work, in seconds (1 s while there is).
    public var dataBasePoolPeriodSec = 30
    /// The longest time between two attempts to reach a database that is away, in seconds.
    public var dataBaseRetryDelaySec = 10
    /// The most children on this host, of all applications and external accounts together.
    public var maxSpareServers = 2
    /// The children that are kept on this host though there is no work for them.
    public var minSpareServers = 0
    /// The children that are started at once, without the limit of one spawn a second, when the supervisor starts.
    public var startSpareServers = 0
    /// How long children may take to settle what is on the wire when they are asked to end, in seconds, before they are
    /// ended with SIGKILL.
    public var drainTimeoutSec = 60
    /// The executable of the MTA children. Empty: the supervisor's own.
    public var executablePath = ""
    /// The time of day, on this host's clock and in its time zone, at which the children are replaced one by one, as
    /// ``TimeOfDay`` reads it. Empty: never.
    public var processRestartTime = "06:00:00"

    /// Creates the settings with their defaults.
    public init() {}
}
