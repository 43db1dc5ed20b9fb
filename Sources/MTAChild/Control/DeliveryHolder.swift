import Logging
import ProcessEvents
import Store

/// Reports to the database that a delivery is held because of the gateway's answers, retrying until it is stored.
final class DeliveryHolder: Sendable {
    private let store: Store
    private let logger: Logger
    private let reports: OrderedReports

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
        reports = OrderedReports(of: "the pause of a delivery", logger: logger)
    }

    /// Whether the database may not know yet that a delivery is held.
    var holdsParts: Bool { reports.isUnderWay }

    /// Returns when the database knows every held delivery.
    func resolved() async {
        await reports.finished()
    }

    /// Pauses a delivery with its reason.
    func hold(_ delivery: Int64, reason: String) {
        logger.event(.deliveryPaused, "delivery \(delivery) is paused: \(reason)", ["delivery": "\(delivery)"])
        reports.tell("hold") { [store] in
            do {
                try await store.holdDelivery(delivery, reason: reason)
            } catch let error as StoreError where error.code == .notFound {
                // The delivery no longer exists.
            }
        }
    }
}
