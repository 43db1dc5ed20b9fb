import PushCore
import Store
import TrackingSpools

/// Resolves message ids with the tracking keys that are kept here.
final class HitResolver: Sendable {
    private let keys: RefreshedValue<TrackingKeyring>

    init(store: Store, onFailure: @escaping @Sendable (any Error) -> Void) {
        keys = RefreshedValue(
            TrackingKeyring(),
            // Who waits for a connection would go on waiting when nobody waits for him any more.
            read: { store.isConnected ? try await store.trackingKeyring() : nil },
            onFailure: onFailure
        )
    }

    /// The keys as they were read last.
    var current: TrackingKeyring { keys.current }

    /// Resolves a hit; the database is asked only for an id that no key makes, and only of a day whose key may not be here.
    func resolve(_ hit: TrackingHit) async -> HitFinding {
        if let finding = finding(hit) { return finding }
        guard await keys.refresh() else { return .undecided }
        return finding(hit) ?? .unknown
    }

    /// Reads the keys again; false if that was not possible.
    @discardableResult
    func refresh() async -> Bool {
        await keys.refresh()
    }

    /// What a hit is by the keys that are here; nil if newer ones may tell more.
    func finding(_ hit: TrackingHit) -> HitFinding? {
        HitFinding(hit, keys.current)
    }
}
