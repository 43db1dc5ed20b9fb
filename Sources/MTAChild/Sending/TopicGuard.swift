import PushCore
import Store

/// Keeps a delivery whose push type needs push tokens of its own from failing message by message at tokens of another kind.
///
/// Nothing is lost by such an answer but the message, as it does not touch the token. So one message that gets through is enough to
/// believe the others; while there is none, refused messages stay undecided until there are so many that the delivery itself must be
/// wrong. The answers are this child's, as in ``MassFailureGuard``.
struct TopicGuard: Sendable {
    private var held: [MassFailureGuard.Held] = []
    /// Messages that were refused because of their token.
    private(set) var refused = 0
    /// Whether a message has got through: tokens are of the right kind then, but for some.
    private(set) var hasWorked = false

    /// Whether nothing is held.
    var isEmpty: Bool { held.isEmpty }
    /// Whether so many were refused that nothing is to be expected of the others.
    var isTripped: Bool { !hasWorked && refused >= Int(MassFailureGuard.window) }
    /// The same when no more answers come.
    var isTrippedWhenQuiet: Bool { !hasWorked && refused > MassFailureGuard.fewest }
    /// The same for a probe, which goes message by message.
    var isTrippedByProbe: Bool { !hasWorked && refused >= MassFailureGuard.probeLimit }

    /// Notes that a message got through.
    mutating func noteWorking() { hasWorked = true }

    /// Counts a refused message and holds it.
    mutating func hold(_ holding: PartToken, row: Int32, _ outcome: Outcome) {
        refused += 1
        held.append(MassFailureGuard.Held(holding: holding, row: row, outcome: outcome))
    }

    /// Takes all that is held.
    mutating func takeAll() -> [MassFailureGuard.Held] {
        defer { held = [] }
        return held
    }

    /// Forgets what is held of a part: it goes to another owner.
    mutating func drop(_ holding: PartToken) {
        held.removeAll { $0.holding == holding }
    }
}
