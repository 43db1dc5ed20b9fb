import PushCore
import Store

/// The result of resolving a hit.
package enum HitResult: Sendable {
    /// It belongs to a known message, or to one known by its number.
    case resolved(ResolvedHit)
    /// Its id matches no key.
    case unknown
    /// It is genuine, but belongs to another delivery than the request names.
    case foreign
    /// Its id matches no known key, and the database cannot be asked for newer ones.
    case undecided

    /// Resolves a hit by these keys; nil if newer keys may tell more.
    package init?(_ hit: TrackingHit, _ keys: TrackingKeyring) {
        switch keys.resolve(hit.id) {
        case .message(let delivery, let sequence, let logDay):
            self = .resolved(
                ResolvedHit(message: .known(delivery: delivery, sequence: sequence, logDay: logDay), hit: hit)
            )
        case .number(let number):
            self = .resolved(ResolvedHit(message: .numbered(number, deliveries: hit.id.deliveries), hit: hit))
        case .foreign: self = .foreign
        case .unknown:
            // An id that names no delivery is invalid, whatever keys follow.
            guard hit.id.deliveries.isEmpty || keys.isComplete(at: hit.microseconds) else { return nil }
            self = .unknown
        }
    }
}
