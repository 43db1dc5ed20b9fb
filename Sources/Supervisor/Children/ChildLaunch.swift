import SystemPackage

/// How a child's process is started and ended.
struct ChildLaunch: Sendable {
    var executable: FilePath
    var arguments: [String]
    /// The time between SIGTERM and SIGKILL when the supervisor's own task is cancelled.
    var killDelay: Duration
    /// How long a child may take to exit after it has closed both outputs.
    var drainTime: Duration
}
