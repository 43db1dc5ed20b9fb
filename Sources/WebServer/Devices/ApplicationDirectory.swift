import Store

/// The applications that devices may register with, by integration key.
final class ApplicationDirectory: Sendable {
    /// The result of a lookup.
    enum Result: Sendable {
        case known(RegistrableApplication)
        case unknown
        /// The key is not cached, and the database is unreachable.
        case unavailable
    }

    private let applications: RefreshedValue<[String: RegistrableApplication]>
    private let timeout: Duration

    /// - Parameter timeout: how long to wait for an unreachable database.
    init(store: Store, timeout: Duration, onFailure: @escaping @Sendable (any Error) -> Void) {
        self.timeout = timeout
        applications = RefreshedValue(
            [:],
            read: {
                // Waiting for a connection here would continue after the last caller has given up.
                guard store.isConnected else { return nil }
                let rows = try await store.registrableApplications()
                return Dictionary(rows.map { ($0.integrationKey, $0) }, uniquingKeysWith: { first, _ in first })
            },
            onFailure: onFailure
        )
    }

    /// The names of applications whose declarations cannot be read, with the reason.
    var unreadable: [String: String] {
        applications.current.values.reduce(into: [:]) { names, application in
            if case .failure(let error) = application.declarations { names[application.name] = "\(error)" }
        }
    }

    /// The cached application of a key; does not query the database.
    func known(_ key: String) -> RegistrableApplication? { applications.current[key] }

    /// Looks up a key; queries the database only for an unknown one.
    func find(_ key: String) async -> Result {
        if let application = known(key) { return .known(application) }
        guard await applications.refresh(timeout: timeout) else { return .unavailable }
        return known(key).map(Result.known) ?? .unknown
    }

    /// Reads all applications again, because their declarations may have changed.
    func refresh() async {
        _ = await applications.refresh()
    }
}
