import Foundation
import PostgresClient
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
    /// What operators want and what monitoring reads. Connects at first use, as the next two, which few children need.
    let control: Store
    /// Loads that read a target mapping's view, see ``ViewLoads``.
    let views: Store
    /// The same for views that are slow.
    let slowViews: Store

    /// Opens the connections.
    ///
    /// Nothing that a child reads may take longer than the load of a part (``LeaseSettings/loadTimeout``). What it stores may: it
    /// would have to be stored again.
    ///
    /// - Parameter losses: told of losses of connections over which parts are claimed and decided.
    static func open(_ settings: Settings, _ losses: ConnectionLosses) async throws -> ChildStores {
        let timeout = settings.mta.lease.loadTimeout
        let note: @Sendable (ReconnectingConnectionEvent) -> Void = { event in
            if case .lost = event { losses.note() }
        }
        return ChildStores(
            load: try await Store.connect(configuration(settings, "mta-child-load", timeout), onEvent: note),
            outcomes: try await Store.connect(configuration(settings, "mta-child", nil), onEvent: note),
            control: Store(configuration: configuration(settings, "mta-child-control", timeout)),
            views: Store(
                configuration: configuration(settings, "mta-child-views", ViewLoads.quickTimeout(timeout))
            ),
            slowViews: Store(configuration: configuration(settings, "mta-child-slow", timeout))
        )
    }

    private static func configuration(_ settings: Settings, _ role: String, _ timeout: Duration?)
        -> PostgresConfiguration
    {
        PostgresConfiguration(
            settings.database.url,
            applicationName: PostgresApplicationName(
                role: role,
                host: ProcessInfo.processInfo.hostName,
                pid: getpid()
            ),
            statementTimeoutMilliseconds: timeout.map { Int($0 / .milliseconds(1)) },
            lockTimeoutMilliseconds: Store.lockTimeoutMilliseconds
        )
    }

    /// Closes all of them.
    func close() async {
        for store in [load, outcomes, control, views, slowViews] { await store.close() }
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
