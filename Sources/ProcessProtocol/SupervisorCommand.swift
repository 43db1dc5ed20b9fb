/// What a supervisor asks of a child.
public enum SupervisorCommand: String, Sendable, Codable, CaseIterable {
    /// There may be new work, or the state of a delivery has changed: look at the database now instead of at the next poll.
    case wake
    /// Claim nothing more, settle and store what is held, then exit with ``ChildExitReason/drained``.
    case drain
    /// Drain without finishing parts: send nothing more, settle what is on the wire, hand the parts back, exit.
    case hurry
    /// Forget cached applications, accounts and credentials, so that the next part is sent with the present ones.
    case reload
}
