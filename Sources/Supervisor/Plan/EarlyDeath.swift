import ProcessProtocol

/// What the death of a child before its first message says about the next one of its kind.
enum EarlyDeath: Sendable, Equatable {
    /// It could not work with the database or its journal, which are away or full for a while: no fault of its kind.
    case surroundings
    /// Somebody outside has ended it with a signal, which says nothing about the next one as long as it does not go on.
    case outside
    /// It failed by itself, and the next one will do the same.
    case own

    init(_ reason: ChildExitReason, _ termination: ChildTermination) {
        switch (reason, termination) {
        case (.database, _), (.journal, _): self = .surroundings
        case (.signalled, .signalled(let signal)) where !Signals.crashes.contains(signal): self = .outside
        default: self = .own
        }
    }
}
