import PostgresClient
import ProcessEvents
import Store
import Synchronization

/// The console's database connections: two for pages, one for the live part, one for downloads, so that a slow page
/// does not hold up others.
final class ConsoleDatabase: Sendable {
    private let pages: [Store]
    private let live: Store
    private let downloads: Store
    private let calls: Mutex<[Int]>

    /// The maximum time that a page waits for an unreachable database.
    private static let connecting = Duration.seconds(3)
    /// The statement timeout in milliseconds. No page needs a tenth of it; one that did would slow down sending.
    private static let statement = 5_000

    init(_ setup: ConsoleSetup) {
        var configuration = setup.database
        configuration.statementTimeoutMilliseconds = Self.statement
        configuration.lockTimeoutMilliseconds = Store.lockTimeoutMilliseconds
        let availability = DatabaseAvailability(logger: setup.logger)
        func store(_ purpose: String) -> Store {
            Store(configuration: configuration, role: Store.consoleRole, onEvent: availability.observer(purpose))
        }
        pages = [store("pages"), store("pages")]
        live = store("the live page")
        downloads = store("downloads")
        calls = Mutex([0, 0])
    }

    /// Runs the work of a page.
    ///
    /// - Throws: ``ConsoleProblem`` if the database is unreachable; any error of the work.
    func run<Value: Sendable>(_ work: @escaping @Sendable (Store) async throws -> Value) async throws -> Value {
        let lane = calls.withLock { calls in
            let lane = calls[0] <= calls[1] ? 0 : 1
            calls[lane] += 1
            return lane
        }
        defer { calls.withLock { $0[lane] -= 1 } }
        return try await Self.run(pages[lane], work)
    }

    /// Runs the work of the live page.
    func runLive<Value: Sendable>(_ work: @escaping @Sendable (Store) async throws -> Value) async throws -> Value {
        try await Self.run(live, work)
    }

    /// Runs one step of a download. All downloads share one connection, which is opened for the first.
    func runDownload<Value: Sendable>(_ work: @escaping @Sendable (Store) async throws -> Value) async throws -> Value {
        try await Self.run(downloads, work)
    }

    func close() async {
        for store in pages + [live, downloads] { await store.close() }
    }

    private static func run<Value: Sendable>(
        _ store: Store,
        _ work: @escaping @Sendable (Store) async throws -> Value
    ) async throws -> Value {
        if !store.isConnected { try await connect(store) }
        do {
            return try await work(store)
        } catch let error as PostgresError {
            switch DatabaseTroubleKind(error) {
            case .away: throw ConsoleProblem.databaseAway
            case .tooSlow: throw ConsoleProblem.tooSlow
            case .refusal: throw error
            }
        }
    }

    private static func connect(_ store: Store) async throws {
        let isConnected = await withTaskGroup(of: Bool.self) { group in
            group.addTask { (try? await store.awaitConnection()) != nil }
            group.addTask {
                try? await Task.sleep(for: connecting)
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
        guard isConnected else { throw ConsoleProblem.databaseAway }
    }
}

/// What kind of database error it is, for the user of a page.
enum DatabaseTroubleKind {
    /// The database is unreachable.
    case away
    /// The database is reachable, but has canceled the statement after the statement timeout.
    case tooSlow
    /// The database has refused the statement.
    case refusal

    init(_ error: PostgresError) {
        // An error of a statement has a SQLSTATE. 57P and 53 come from a server that shuts down or is out of
        // resources, 55P03 from a lock timeout, 57014 from a canceled statement.
        self =
            switch error.sqlState {
            case nil: .away
            case "57014": .tooSlow
            case let state?
            where state.hasPrefix("57") || state.hasPrefix("53") || state.hasPrefix("08") || state == "55P03":
                .away
            default: .refusal
            }
    }
}
