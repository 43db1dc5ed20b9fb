import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Tells the database that the application's circuit opens or closes, until it has heard it.
final class CircuitReport: Sendable {
    private let store: Store
    private let applicationID: Int32
    private let accountID: Int32
    private let logger: Logger
    private let reports: OrderedReports

    init(store: Store, applicationID: Int32, accountID: Int32, logger: Logger) {
        self.store = store
        self.applicationID = applicationID
        self.accountID = accountID
        self.logger = logger
        reports = OrderedReports(of: "the state of the circuit", logger: logger)
    }

    /// Whether the database may not know yet that a probe of this child has closed the circuit.
    var isClosing: Bool { reports.isUnderWay("close") }

    /// Whether the database may not know yet that this child has opened the circuit.
    var isOpening: Bool { reports.isUnderWay("open") }

    /// Returns when the database knows the latest state.
    func resolved() async {
        await reports.finished()
    }

    /// Counts as under way from now on, though the reason is known a moment later.
    func open(remedy: String, holdsTokenEffects: Bool, reason: @escaping @Sendable () async throws -> String) {
        let words = Task {
            let words = (try? await reason()) ?? "the gateway refuses every message"
            logger.event(.circuitOpened, "the circuit of the application opens: \(words); \(remedy)")
            return words
        }
        reports.tell("open") { [store, applicationID, accountID] in
            try await store.openCircuit(
                application: applicationID,
                account: accountID,
                reason: await words.value,
                remedy: remedy,
                holdsTokenEffects: holdsTokenEffects
            )
        }
    }

    func close() {
        logger.event(.circuitClosed, "a probe got through: the circuit of the application closes")
        reports.tell("close") { [store, applicationID] in
            try await store.closeCircuit(application: applicationID)
        }
    }
}

/// Tells the database that a delivery is held back for what the gateway says of it, until it has heard it.
final class DeliveryHolder: Sendable {
    private let store: Store
    private let logger: Logger
    private let reports: OrderedReports

    init(store: Store, logger: Logger) {
        self.store = store
        self.logger = logger
        reports = OrderedReports(of: "the pause of a delivery", logger: logger)
    }

    /// Whether the database may not know yet that a delivery is held back.
    var holdsParts: Bool { reports.isUnderWay }

    /// Returns when the database knows all of it.
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
                // There is nothing left to hold back.
            }
        }
    }
}

/// Tells the database what this child has found, one thing after the other, each until the database has it.
final class OrderedReports: Sendable {
    private struct State {
        var underWay: [String: Int] = [:]
        var last: Task<Void, Never>?
    }

    private let what: String
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter what: the thing that is told of, for the log.
    init(of what: String, logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// Whether the database may not know yet what was told under a name.
    func isUnderWay(_ name: String) -> Bool { state.withLock { $0.underWay[name, default: 0] > 0 } }

    /// Whether the database may not know all yet.
    var isUnderWay: Bool { state.withLock { $0.underWay.values.contains { $0 > 0 } } }

    /// Returns when the database knows everything.
    func finished() async {
        await state.withLock { $0.last }?.value
    }

    /// Tells it as soon as what was told before is known. It counts as under way from now on.
    func tell(_ name: String, _ change: @escaping @Sendable () async throws -> Void) {
        state.withLock { state in
            state.underWay[name, default: 0] += 1
            let before = state.last
            state.last = Task {
                await before?.value
                var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
                while !Task.isCancelled {
                    do {
                        try await change()
                        break
                    } catch {
                        logger.failure("\(what) could not be stored, trying again", of: error)
                        try? await Task.sleep(for: backOff.next())
                    }
                }
                self.state.withLock { $0.underWay[name, default: 1] -= 1 }
            }
        }
    }
}
