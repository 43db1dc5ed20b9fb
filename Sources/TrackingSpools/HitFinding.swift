import PushCore
import Store

/// What a hit turned out to be.
public enum HitFinding: Sendable {
    /// Of a message that is known, or known by its number.
    case resolved(ResolvedHit)
    /// No key makes its id.
    case unknown
    /// It is genuine, of another delivery than the request says.
    case foreign
    /// No key that is here makes it, and the database cannot be asked for newer ones.
    case undecided

    /// What a hit is by these keys; nil if newer ones may tell more.
    public init?(_ hit: TrackingHit, _ keys: TrackingKeyring) {
        switch keys.resolve(hit.id) {
        case .message(let delivery, let sequence, let logDay):
            self = .resolved(
                ResolvedHit(message: .known(delivery: delivery, sequence: sequence, logDay: logDay), hit: hit)
            )
        case .number(let number):
            self = .resolved(ResolvedHit(message: .numbered(number, deliveries: hit.id.deliveries), hit: hit))
        case .foreign: self = .foreign
        case .unknown:
            // An id that names no delivery is nobody's, whatever keys there will be.
            guard hit.id.deliveries.isEmpty || keys.isComplete(at: hit.microseconds) else { return nil }
            self = .unknown
        }
    }
}
