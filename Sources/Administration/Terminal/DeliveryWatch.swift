import PushCore
import Store

/// Follows a delivery with a progress display.
package struct DeliveryWatch: Sendable {
    /// How often the counts are read: often enough to look alive.
    private static let interval = Duration.milliseconds(200)

    /// The store that holds the counts.
    package let store: Store
    package let id: Int64
    /// Whether the display is omitted.
    package var isQuiet = false
    /// The watch gives up after this time without a change; `nil`: never.
    package var timeout: Duration?
    /// Called before each read; an error that it throws ends the watch.
    package var check: @Sendable () throws -> Void = {}

    package init(
        store: Store,
        id: Int64,
        isQuiet: Bool = false,
        timeout: Duration? = nil,
        check: @escaping @Sendable () throws -> Void = {}
    ) {
        self.store = store
        self.id = id
        self.isQuiet = isQuiet
        self.timeout = timeout
        self.check = check
    }

    /// Waits until the delivery is over, or is held because something is wrong with it (paused, or back in editing),
    /// and returns its last counts. With a timeout, it also returns when nothing has changed for that time.
    package func untilOver(
        _ look: (DeliveryProgress) async throws -> Void = { _ in }
    ) async throws -> DeliveryProgress {
        var display = ProgressDisplay(isQuiet: isQuiet)
        var resolved: Int64 = -1
        var changed = ContinuousClock.now
        while true {
            try check()
            let progress = try await store.deliveryProgress(id)
            let now = ContinuousClock.now
            display.show(progress, at: now)
            try await look(progress)
            if progress.target - progress.pending != resolved {
                resolved = progress.target - progress.pending
                changed = now
            }
            // A delivery that was paused because of its own fault resumes only when a user has fixed it.
            let isHeld =
                (progress.state == .paused || progress.state == .editing) && !progress.stateReason.isEmpty
                && progress.partsClaimed == 0
            if progress.state.isFinal || isHeld || timeout.map({ now - changed > $0 }) ?? false {
                display.finish()
                return progress
            }
            try await Task.sleep(for: Self.interval)
        }
    }
}
