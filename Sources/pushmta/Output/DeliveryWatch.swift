import PushCore
import Store

/// Follows a delivery with a progress display.
struct DeliveryWatch: Sendable {
    /// How often the counts are read: often enough to look alive.
    private static let interval = Duration.milliseconds(200)

    /// Where the counts are read.
    let store: Store
    /// The delivery.
    let id: Int64
    /// Whether the display is left out.
    var isQuiet = false
    /// After so long without any change the watch gives up; `nil`: never.
    var patience: Duration?
    /// Called before each look; what it throws ends the watch.
    var check: @Sendable () throws -> Void = {}

    /// Waits until the delivery is over, or paused for what the gateway says of it, and returns its last counts; with a patience,
    /// also when nothing has changed for so long.
    func untilOver(_ look: (DeliveryProgress) -> Void = { _ in }) async throws -> DeliveryProgress {
        var display = ProgressDisplay(isQuiet: isQuiet)
        var settled: Int64 = -1
        var changed = ContinuousClock.now
        while true {
            try check()
            let progress = try await store.deliveryProgress(id)
            let now = ContinuousClock.now
            display.show(progress, at: now)
            look(progress)
            if progress.target - progress.pending != settled {
                settled = progress.target - progress.pending
                changed = now
            }
            // One that was paused for a fault of its own goes on only when somebody has put it right.
            let isHeld = progress.state == .paused && !progress.stateReason.isEmpty && progress.partsClaimed == 0
            if progress.state.isFinal || isHeld || patience.map({ now - changed > $0 }) ?? false {
                display.finish()
                return progress
            }
            try await Task.sleep(for: Self.interval)
        }
    }
}
