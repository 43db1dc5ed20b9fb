import Logging
import PushCore
import Store
import Synchronization

/// Tells the database that the application's circuit opens or closes, until it has heard it.
final class CircuitKeeper: Sendable {
    private struct State {
        var closing = 0
        var opening = 0
        var last: Task<Void, Never>?
    }

    private let store: Store
    private let applicationID: Int32
    private let accountID: Int32
    private let logger: Logger
    private let state = Mutex(State())

    init(store: Store, applicationID: Int32, accountID: Int32, logger: Logger) {
        self.store = store
        self.applicationID = applicationID
        self.accountID = accountID
        self.logger = logger
    }

    /// Whether the database may not know yet that a probe of this child has closed the circuit.
    var isClosing: Bool { state.withLock { $0.closing > 0 } }

    /// Whether the database may not know yet that this child has opened the circuit.
    var isOpening: Bool { state.withLock { $0.opening > 0 } }

    /// Returns when the database knows the latest state.
    func settled() async {
        await state.withLock { $0.last }?.value
    }

    /// Counts as under way from now on, though the reason is known a moment later.
    func open(remedy: String, holdsTokenEffects: Bool, reason: @escaping @Sendable () async throws -> String) {
        state.withLock { $0.opening += 1 }
        let words = Task {
            let words = (try? await reason()) ?? "the gateway refuses every message"
            logger.error("the circuit of the application opens: \(words); \(remedy)")
            return words
        }
        tell { [store, applicationID, accountID] in
            try await store.openCircuit(
                application: applicationID,
                account: accountID,
                reason: await words.value,
                remedy: remedy,
                holdsTokenEffects: holdsTokenEffects
            )
        } done: {
            self.state.withLock { $0.opening -= 1 }
        }
    }

    func close() {
        logger.notice("a probe got through: the circuit of the application closes")
        state.withLock { $0.closing += 1 }
        tell { [store, applicationID] in
            try await store.closeCircuit(application: applicationID)
        } done: {
            self.state.withLock { $0.closing -= 1 }
        }
    }

    /// One after the other, each until the database has it.
    private func tell(
        _ change: @escaping @Sendable () async throws -> Void,
        done: @escaping @Sendable () -> Void = {}
    ) {
        state.withLock { state in
            let before = state.last
            state.last = Task {
                await before?.value
                var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
                while !Task.isCancelled {
                    do {
                        try await change()
                        break
                    } catch {
                        logger.warning("the state of the circuit could not be stored, trying again: \(error)")
                        try? await Task.sleep(for: backOff.next())
                    }
                }
                done()
            }
        }
    }
}
