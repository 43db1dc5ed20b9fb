import Foundation
import PostgresClient
import ProcessEvents
import PushCore
import Store
import Synchronization

/// The database connections of a child.
///
/// Each works off its statements in order, so what must not wait for a load has one of its own.
struct ChildStores: Sendable {
    /// Claims, and loads that read our own tables only.
    let load: Store
    /// Marks, outcomes and leases.
    let outcomes: Store
    /// Marks while single messages come: they do not wait until the outcomes of thousands are stored.
    let marks: Store
    /// What operators want and what monitoring reads. Connects at first use, as the next two and `marks`, which few children need.
    let control: Store
    /// Loads that read a target mapping's view, see ``ViewLoads``.
    let views: Store
    /// The same for views that are slow.
    let slowViews: Store

    /// As late as a single message may be; a mark that outcomes of the same part lock out for longer goes behind them.
    private static let markLockTimeoutMilliseconds = 50

    /// Opens the connections.
    ///
    /// Nothing that a child reads may take longer than the load of a part (``LeaseSettings/loadTimeout``). What it stores may: it
    /// would have to be stored again.
    ///
    /// - Parameter losses: told of losses of connections over which parts are claimed and decided.
    /// - Parameter database: observes all of them.
    static func open(
        _ settings: Settings,
        _ losses: ConnectionLosses,
        _ database: DatabaseAvailability
    ) async throws -> ChildStores {
        let timeout = settings.mta.lease.loadTimeout
        @Sendable func connect(_ role: String, _ timeout: Duration?) async throws -> Store {
            let observer = database.observer(role)
            return try await Store.connect(configuration(settings, role, timeout)) { event in
                switch event {
                case .lost, .dropped: losses.note()
                default: break
                }
                observer(event)
            }
        }
        func store(_ role: String, _ timeout: Duration?) -> Store {
            Store(configuration: configuration(settings, role, timeout), onEvent: database.observer(role))
        }
        // A child's first message waits for both.
        async let load = connect("mta-child-load", timeout)
        async let outcomes = connect("mta-child", nil)
        return ChildStores(
            load: try await load,
            outcomes: try await outcomes,
            // Nobody is told whether it is there, as the outcomes' connection does the same.
            marks: Store(
                configuration: configuration(
                    settings,
                    "mta-child-marks",
                    timeout,
                    lockTimeout: markLockTimeoutMilliseconds
                )
            ),
            control: store("mta-child-control", timeout),
            views: store("mta-child-views", ViewLoads.quickTimeout(timeout)),
            slowViews: store("mta-child-slow", timeout)
        )
    }

    /// - Parameter lockTimeout: in milliseconds.
    private static func configuration(
        _ settings: Settings,
        _ role: String,
        _ timeout: Duration?,
        lockTimeout: Int = Store.lockTimeoutMilliseconds
    ) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(
            settings.database.url,
            applicationName: PostgresApplicationName(
                role: role,
                host: ProcessInfo.processInfo.hostName,
                pid: getpid()
            ),
            statementTimeoutMilliseconds: timeout.map { Int($0 / .milliseconds(1)) },
            lockTimeoutMilliseconds: lockTimeout
        )
        configuration.origin = settings.database.origin.text
        return configuration
    }

    func close() async {
        for store in [load, outcomes, marks, control, views, slowViews] { await store.close() }
    }
}

/// Remembers that a connection to the database was lost, and with it, perhaps, the answer to a claim.
final class ConnectionLosses: Sendable {
    private let hasLost = Atomic(false)

    func note() {
        hasLost.store(true, ordering: .relaxed)
    }

    /// Whether there was a loss since the last call.
    func take() -> Bool {
        hasLost.exchange(false, ordering: .relaxed)
    }
}
