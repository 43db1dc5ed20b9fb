import PushCore
import Store

/// Resolves message ids with the tracking keys that are kept here.
final class HitResolver: Sendable {
    /// What a hit turned out to be.
    enum Finding: Sendable {
        case resolved(ResolvedHit)
        case unknown, foreign
        /// No key that is here makes it, and the database cannot be asked for newer ones.
        case undecided
    }

    private let keys: RefreshedValue<TrackingKeyring>

    init(store: Store, onFailure: @escaping @Sendable (any Error) -> Void) {
        keys = RefreshedValue(
            TrackingKeyring(),
            // Who waits for a connection would go on waiting when nobody waits for him any more.
            read: { store.isConnected ? TrackingKeyring(try await store.trackingKeys()) : nil },
            onFailure: onFailure
        )
    }

    /// Resolves a hit; the database is asked only for an id that no key makes, since a delivery may have started just now.
    func resolve(_ hit: TrackingHit) async -> Finding {
        if let finding = finding(hit) { return finding }
        guard await keys.refresh() else { return .undecided }
        return finding(hit) ?? .unknown
    }

    /// Reads the keys again: those of days that are gone are forgotten.
    func refresh() async {
        _ = await keys.refresh()
    }

    /// What a hit is by the keys that are here; nil if newer ones may tell more.
    func finding(_ hit: TrackingHit) -> Finding? {
        switch keys.current.resolve(hit.id) {
        case .message(let delivery, let sequence, let logDay):
            .resolved(ResolvedHit(message: .known(delivery: delivery, sequence: sequence, logDay: logDay), hit: hit))
        case .number:
            if case .number(let number) = hit.id.message {
                .resolved(ResolvedHit(message: .numbered(number, deliveries: hit.id.deliveries), hit: hit))
            } else {
                .unknown
            }
        case .foreign: .foreign
        case .unknown:
            // An id that names no delivery is nobody's, whatever keys there will be.
            hit.id.deliveries.isEmpty ? .unknown : nil
        }
    }
}
