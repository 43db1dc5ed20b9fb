import PushCore
import Store
import TrackingSpools

/// Resolves message ids with cached tracking keys.
final class HitResolver: Sendable {
    private let keys: RefreshedValue<TrackingKeyring>

    init(store: Store, onFailure: @escaping @Sendable (any Error) -> Void) {
        keys = RefreshedValue(
            TrackingKeyring(),
            // Waiting for a connection here would continue after the last caller has given up.
            read: { store.isConnected ? try await store.trackingKeyring() : nil },
            onFailure: onFailure
        )
    }

    /// The keys of the last reading.
    var current: TrackingKeyring { keys.current }

    /// Resolves a hit; queries the database only for an id that matches no cached key and whose day's key may be
    /// missing.
    func resolve(_ hit: TrackingHit) async -> HitResult {
        if let result = result(hit) { return result }
        guard await keys.refresh() else { return .undecided }
        return result(hit) ?? .unknown
    }

    /// Reads the keys again; false if that is not possible.
    @discardableResult
    func refresh() async -> Bool {
        await keys.refresh()
    }

    /// The result by the cached keys; nil if newer keys may be needed.
    func result(_ hit: TrackingHit) -> HitResult? {
        HitResult(hit, keys.current)
    }
}
