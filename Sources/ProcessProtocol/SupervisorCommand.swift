/// The commands of a supervisor to a child.
package enum SupervisorCommand: String, Sendable, Codable, CaseIterable {
    /// There may be new work, or a delivery's state has changed: look at the database now, not at the next poll.
    case wake
    /// Claim nothing more, resolve and store what is held, then exit with ``ChildExitReason/drained``.
    case drain
    /// Drain as soon as nothing is left to claim: other kinds wait for the place.
    case leaveWhenDone
    /// Drain without finishing parts: send nothing more, resolve what is on the wire, hand the parts back, exit.
    case fastShutdown
    /// Show what is on the wire, for as long as the order says.
    case trace
}
