import Foundation
import PostgresClient
import ProcessEvents
import PushCore
import Store

/// The database connections of a child.
///
/// Each connection runs its statements in order, so work that must not wait for a load has a separate one.
struct ChildStores: Sendable {
    /// Claims, and loads that read only PushMTA's own tables.
    let load: Store
    /// Marks, outcomes and leases.
    let outcomes: Store
    /// Marks while single messages come, so that they do not wait until thousands of outcomes are stored.
    let marks: Store
    /// What operators want and what monitoring reads. Like `views`, `slowViews` and `marks`, it connects at first use,
    /// because few children need these.
    let control: Store
    /// Loads that read a target mapping's view; see ``ViewLoads``.
    let views: Store
    /// The same, for slow views.
    let slowViews: Store

    /// The acceptable delay of a single message. A mark that outcomes of the same part lock out for longer goes after
    /// them.
    private static let markLockTimeoutMilliseconds = 50

    /// Opens the connections.
    ///
    /// No read of a child may take longer than the load of a part (``LeaseSettings/loadTimeout``). Writes may, because
    /// a cancelled one would have to be repeated.
    ///
    /// - Parameter losses: notes losses of the connections for claims and outcomes.
    /// - Parameter database: observes all connections except that of marks.
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
        // Both connect at once, because a child's first message waits for both.
        async let load = connect("mta-child-load", timeout)
        async let outcomes = connect("mta-child", nil)
        return ChildStores(
            load: try await load,
            outcomes: try await outcomes,
            // Not observed: the outcomes' connection does the same work if this one is down.
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
