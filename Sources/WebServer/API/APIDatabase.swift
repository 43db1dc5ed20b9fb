import Logging
import PostgresClient
import ProcessEvents
import Store
import Synchronization

/// The API's database connections, each opened when it is first needed, with the role of the web process.
///
/// A call that waits for a lock or reads much holds up only the calls behind it on the same connection. The time of a
/// call and the number of concurrent calls are limited, whatever the state of the database.
final class APIDatabase: Sendable {
    private struct Lane {
        /// Calls in progress, including those whose caller no longer waits.
        var calls = 0
        var isConnecting = false
    }

    private let stores: [Store]
    private let lanes: Mutex<[Lane]>
    private let logger: Logger

    /// The maximum number of calls in progress on all connections.
    private static let maxCalls = 64
    /// How long a call may wait for a connection, and how long it may take. API clients give up after about ten
    /// seconds.
    private static let connectingLimit = Duration.seconds(2)
    private static let callLimit = Duration.seconds(10)
    private static let lookPause = Duration.milliseconds(10)
    /// The maximum number of retries after a conflict with another transaction; each takes milliseconds.
    private static let maxConflicts = 6

    init(
        _ configuration: PostgresConfiguration,
        connections: Int,
        logger: Logger,
        availability: DatabaseAvailability
    ) {
        stores = (0..<connections).map { _ in
            Store(configuration: configuration, role: Store.webRole, onEvent: availability.observer("the API"))
        }
        lanes = Mutex(Array(repeating: Lane(), count: connections))
        self.logger = logger
    }

    func close() async {
        for store in stores { await store.close() }
    }

    /// Runs a transaction, repeating it after a conflict; other failures become problems.
    func run<Value: Sendable>(_ work: @escaping @Sendable (Store) async throws -> Value) async throws(APIProblem)
        -> Value
    {
        guard let lane = take() else {
            throw .unavailable("Too many requests wait for the database.", retryAfter: 1)
        }
        let store = stores[lane]
        guard await connect(lane, store) else {
            release(lane)
            throw .unavailable("The database is unreachable.")
        }
        var conflicts = 0
        while true {
            switch await attempt(lane, store, work) {
            case .success(let value): return value
            case .failure(let error as APIProblem): throw error
            case .failure(let error as StoreError): throw problem(error)
            case nil: throw .resultUnknown
            case .failure(let error):
                switch DatabaseTrouble(error) {
                case .conflict where conflicts < Self.maxConflicts:
                    conflicts += 1
                    try? await Task.sleep(for: .milliseconds(Int.random(in: 1...10 * conflicts)))
                    hold(lane)
                case .conflict: throw .unavailable("Another request is changing the same data.", retryAfter: 1)
                // Not repeated: other calls wait behind this one.
                case .locked: throw .unavailable("Another transaction has locked the same data.", retryAfter: 1)
                case .value where (error as? PostgresError)?.code != .type:
                    logger.info("The database rejected a value in an API request: \(error)")
                    throw .refusedValue
                case .away:
                    logger.failure("A request of the API failed", of: error)
                    throw .resultUnknown
                case .value, .other:
                    logger.failure("A request of the API failed", of: error, level: .error)
                    throw .failed
                }
            }
        }
    }

    private func attempt<Value: Sendable>(
        _ lane: Int,
        _ store: Store,
        _ work: @escaping @Sendable (Store) async throws -> Value
    ) async -> Result<Value, any Error>? {
        await Attempt<Value>().run(within: Self.callLimit) { [self] in
            // It counts until it has actually ended.
            defer { release(lane) }
            return try await work(store)
        }
    }

    /// The connection with the fewest calls; nil if there are too many in total.
    private func take() -> Int? {
        lanes.withLock { lanes in
            guard lanes.reduce(0, { $0 + $1.calls }) < Self.maxCalls else { return nil }
            guard let best = lanes.indices.min(by: { lanes[$0].calls < lanes[$1].calls }) else { return nil }
            lanes[best].calls += 1
            return best
        }
    }

    private func hold(_ lane: Int) {
        lanes.withLock { $0[lane].calls += 1 }
    }

    private func release(_ lane: Int) {
        lanes.withLock { $0[lane].calls -= 1 }
    }

    /// Waits for a connection up to the limit. The attempt to connect continues in the background, one at a time.
    private func connect(_ lane: Int, _ store: Store) async -> Bool {
        let deadline = ContinuousClock.now + Self.connectingLimit
        while !store.isConnected {
            let starts = lanes.withLock { lanes in
                defer { lanes[lane].isConnecting = true }
                return !lanes[lane].isConnecting
            }
            if starts {
                Task {
                    try? await store.awaitConnection()
                    lanes.withLock { $0[lane].isConnecting = false }
                }
            }
            guard .now < deadline else { return false }
            try? await Task.sleep(for: Self.lookPause)
        }
        return true
    }

    private func problem(_ error: StoreError) -> APIProblem {
        let remedy = error.hint.map { Self.sentence($0) } ?? "Check the names and ids in the request."
        // The consumer of events of another reader.
        if error.sqlState == "PM167" { return APIProblem(.missingScope, error.message, remedy) }
        switch error.code {
        case .notFound: return APIProblem(.notFound, error.message, remedy)
        case .conflict: return APIProblem(.conflict, error.message, remedy)
        case .invalid: return APIProblem(.invalidValue, error.message, remedy)
        case .unavailable, .schema: return .unavailable(error.message)
        case .unbalancedPart, .unexpectedAnswer:
            logger.failure("A request of the API failed", of: error, level: .error)
            return .failed
        }
    }

    /// Makes a sentence of a hint, which elsewhere is shown in brackets.
    static func sentence(_ hint: String) -> String {
        // A command keeps its spelling.
        let isCommand = hint.hasPrefix("pushmta ")
        return (isCommand ? "pushmta" : hint.prefix(1).uppercased()) + hint.dropFirst(isCommand ? 7 : 1)
            + (hint.hasSuffix(".") ? "" : ".")
    }
}
