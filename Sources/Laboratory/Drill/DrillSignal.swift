import Foundation

/// The signals that drills send to processes.
enum DrillSignal {
    /// Ends a process at once; it cannot catch this.
    static let kill = SIGKILL
    /// Suspends a process.
    static let stop = SIGSTOP
    /// Resumes a suspended process.
    static let resume = SIGCONT
}
