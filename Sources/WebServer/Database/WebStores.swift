import Logging
import PostgresClient
import PushCore
import Store

/// The connections of the web process: one each for registrations, for hits, and for what it reads, so that none of them waits
/// for another.
final class WebStores: Sendable {
    let registration: Store
    let tracking: Store
    let reading: Store

    init(_ setup: WebSetup) {
        let logger = setup.logger
        func store(_ purpose: String) -> Store {
            Store(configuration: setup.database, role: Store.webRole) { event in
                switch event {
                case .connected(let pid): logger.info("Connected to the database for \(purpose) (backend \(pid)).")
                case .lost: logger.warning("The connection to the database for \(purpose) is lost.")
                case .attemptFailed(let error, let attempt, let delay):
                    // The first failures in full, then one a minute or so.
                    if attempt <= 3 || attempt % 20 == 0 {
                        logger.warning(
                            "The database cannot be reached for \(purpose), attempt \(attempt), next in \(delay): \(error)"
                        )
                    }
                }
            }
        }
        registration = store("registrations")
        tracking = store("tracking")
        reading = store("reading")
    }

    private var all: [Store] { [registration, tracking, reading] }

    /// Connects again whenever a connection is lost, until the task is cancelled.
    func keepConnected() async {
        await withTaskGroup(of: Void.self) { group in
            for store in all {
                group.addTask {
                    while !Task.isCancelled {
                        _ = try? await store.awaitConnection()
                        try? await Task.sleep(for: .milliseconds(100))
                    }
                }
            }
        }
    }

    /// The role that it works under, which is its user's own if that is no member of ``Store/webRole``.
    func role() async throws -> String {
        try await registration.sessionRole()
    }

    /// Why the database's schema does not fit this program; nil if it does.
    func schemaProblem() async throws -> String? {
        do {
            try await reading.checkSchema()
            return nil
        } catch let error as StoreError where error.code == .schema {
            return "\(error)"
        }
    }

    func close() async {
        for store in all { await store.close() }
    }
}
