/// A place at which a debug build can be told to die at once, so that every step of the protocol is interrupted on purpose.
///
/// `PUSHMTA_CRASH_POINT=NAME:N:FILE` in the environment of a process arms one: the process that reaches NAME for its N-th
/// time removes FILE and, if it was the one that removed it, ends itself with SIGKILL. So of several processes with the same
/// environment one dies, once. Without FILE nothing is armed. A release build has none of this.
public enum CrashPoint: String, CaseIterable, Sendable {
    /// A part was claimed and nothing of it is loaded yet.
    case afterClaim = "after-claim"
    /// A dispatch mark was committed and no intent of its window is written yet.
    case afterMark = "after-mark"
    /// Intents were journaled and their requests have no stream yet.
    case afterIntent = "after-intent"
    /// Requests were about to be handed over for sending.
    case beforeWrite = "before-write"
    /// Answers were read and journaled, and are not stored yet.
    case afterAnswer = "after-answer"
    /// A transaction that stores outcomes is complete but for its COMMIT.
    case beforeCommit = "before-commit"
    /// The database has committed outcomes and the process has not heard of it.
    case afterCommit = "after-commit"
    /// All outcomes of a part are known and its closing transaction has not begun.
    case beforePartEnd = "before-part-end"
    /// A chunk of a delivery's preparation is inserted in part.
    case midChunk = "mid-chunk"

    /// Whether this build has crash points at all.
    public static var isCompiledIn: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// Ends the process here if the environment says so; does nothing in a release build.
    @inlinable
    public func reached() {
        #if DEBUG
        CrashPointTrap.dieIfArmed(self)
        #endif
    }
}
