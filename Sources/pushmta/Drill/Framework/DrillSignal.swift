import Foundation

/// The signals of drills.
enum DrillSignal {
    /// Ends a process that cannot do anything about it.
    static let kill = SIGKILL
    /// Stops a process where it stands.
    static let stop = SIGSTOP
    /// Lets a stopped process go on.
    static let resume = SIGCONT
}
