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
