import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Reports to the database that the application's circuit opens or closes, retrying until it is stored.
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

    /// Opens the circuit. The report counts as under way from now on, although its reason is known a moment later.
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

/// Sends reports to the database one at a time, retrying each until it is stored.
final class OrderedReports: Sendable {
    private struct State {
        var underWay: [String: Int] = [:]
        var last: Task<Void, Never>?
    }

    private let what: String
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameter what: the subject of the reports, for the log.
    init(of what: String, logger: Logger) {
        self.what = what
        self.logger = logger
    }

    /// Whether the database may not have a report of this name yet.
    func isUnderWay(_ name: String) -> Bool { state.withLock { $0.underWay[name, default: 0] > 0 } }

    /// Whether the database may not have all reports yet.
    var isUnderWay: Bool { state.withLock { $0.underWay.values.contains { $0 > 0 } } }

    /// Returns when the database has all reports.
    func finished() async {
        await state.withLock { $0.last }?.value
    }

    /// Sends a report after all earlier ones are stored. It counts as under way from now on.
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
