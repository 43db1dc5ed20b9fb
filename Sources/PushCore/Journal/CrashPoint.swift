/// A place where a debug build can be made to die at once, so that tests can interrupt every step of the protocol.
///
/// `PUSHMTA_CRASH_POINT=NAME:N:FILE` in a process's environment arms one crash point. The process that reaches NAME for
/// the N-th time removes FILE, and kills itself with SIGKILL if the removal succeeded. So of several processes with the
/// same environment exactly one dies, once. Without FILE nothing is armed. Release builds have no crash points.
@usableFromInline
package enum CrashPoint: String, CaseIterable, Sendable {
    /// A part was claimed and none of it is loaded yet.
    case afterClaim = "after-claim"
    /// A dispatch mark was committed and no intent of its window is written yet.
    case afterMark = "after-mark"
    /// Intents were journaled and their requests have no stream yet.
    case afterIntent = "after-intent"
    /// Requests are about to be handed over for sending.
    case beforeWrite = "before-write"
    /// Answers were read and journaled, and are not stored yet.
    case afterAnswer = "after-answer"
    /// A transaction that stores outcomes is complete except for its COMMIT.
    case beforeCommit = "before-commit"
    /// The database has committed outcomes and the process has not received the confirmation.
    case afterCommit = "after-commit"
    /// All outcomes of a part are known and its closing transaction has not begun.
    case beforePartEnd = "before-part-end"
    /// A chunk of a delivery's preparation is partly inserted.
    case midChunk = "mid-chunk"

    /// Whether this build has crash points.
    package static var isCompiledIn: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    /// Ends the process here if this crash point is armed; does nothing in a release build.
    @inlinable
    package func reached() {
        #if DEBUG
        CrashPointTrap.dieIfArmed(self)
        #endif
    }
}
