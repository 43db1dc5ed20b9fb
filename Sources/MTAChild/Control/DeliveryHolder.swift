import Logging
import PushCore
import Store
import Synchronization

/// Tells the database that a delivery is held back for what the gateway says of it, until it has heard it.
final class DeliveryHolder: Sendable {
    private struct State {
        var underWay = 0
        var last: Task<Void, Never>?
    }

    private let store: Store
    private let logger: Logger
    private let state = Mutex(State())

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Whether the database may not know yet that a delivery is held back.
    var isHolding: Bool { state.withLock { $0.underWay > 0 } }

    /// Returns when the database knows all of it.
    func settled() async {
        await state.withLock { $0.last }?.value
    }

    /// Pauses a delivery with its reason.
    func hold(_ delivery: Int64, reason: String) {
        logger.error("delivery \(delivery) is paused: \(reason)")
        state.withLock { state in
            state.underWay += 1
            let before = state.last
            state.last = Task {
                await before?.value
                await self.tell(delivery, reason)
                self.state.withLock { $0.underWay -= 1 }
            }
        }
    }

    private func tell(_ delivery: Int64, _ reason: String) async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
        while !Task.isCancelled {
            do {
                return try await store.holdDelivery(delivery, reason: reason)
            } catch let error as StoreError where error.code == .notFound {
                // There is nothing left to hold back.
                return
            } catch {
                logger.warning("delivery \(delivery) could not be paused, trying again: \(error)")
                try? await Task.sleep(for: backOff.next())
            }
        }
    }
}
