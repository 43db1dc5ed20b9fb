import Logging
import PostgresClient
import ProcessEvents
import PushCore
import Store

/// The web process's database connections: one each for registrations, hits and reading, so that none waits for
/// another.
final class WebStores: Sendable {
    let registration: Store
    let tracking: Store
    let reading: Store

    init(_ setup: WebSetup) {
        func store(_ purpose: String) -> Store {
            let observer = setup.availability.observer(purpose)
            return Store(configuration: setup.database, role: Store.webRole, onEvent: observer)
        }
        registration = store("registrations")
        tracking = store("tracking")
        reading = store("reading")
    }

    private var all: [Store] { [registration, tracking, reading] }

    /// Reconnects lost connections until the task is cancelled.
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

    /// The role in use: ``Store/webRole``, or the user's own if the user is not a member of it.
    func role() async throws -> String {
        try await registration.sessionRole()
    }

    /// Why the database's schema does not match this program; nil if it does.
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
