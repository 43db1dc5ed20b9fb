import SystemPackage

/// How a child's process is started and ended.
struct ChildLaunch: Sendable {
    var executable: FilePath
    var arguments: [String]
    /// Time between SIGTERM and SIGKILL when the supervisor's own task is cancelled.
    var killDelay: Duration
    /// Time that a child has to end after it has closed both its outputs.
    var drainTime: Duration
}
