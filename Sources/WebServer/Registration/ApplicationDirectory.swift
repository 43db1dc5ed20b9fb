import PushCore
import Store

/// The applications that devices may register with, by integration key.
final class ApplicationDirectory: Sendable {
    /// What a key stands for.
    enum Finding: Sendable {
        case known(RegistrableApplication)
        case unknown
        /// It is none that is known here, and the database cannot be asked.
        case unavailable
    }

    private let applications: RefreshedValue<[String: RegistrableApplication]>
    private let patience: Duration

    /// - Parameter patience: how long a database that is away is waited for.
    init(store: Store, patience: Duration, onFailure: @escaping @Sendable (any Error) -> Void) {
        self.patience = patience
        applications = RefreshedValue(
            [:],
            read: {
                // Who waits for a connection would go on waiting when nobody waits for him any more.
                guard store.isConnected else { return nil }
                let rows = try await store.registrableApplications()
                return Dictionary(rows.map { ($0.integrationKey, $0) }, uniquingKeysWith: { first, _ in first })
            },
            onFailure: onFailure
        )
    }

    /// The names of the applications whose devices cannot be registered, and why.
    var unreadable: [String: String] {
        applications.current.values.reduce(into: [:]) { names, application in
            if case .failure(let error) = application.declarations { names[application.name] = "\(error)" }
        }
    }

    /// Looks a key up; the database is asked only about one that is not known.
    func find(_ key: String) async -> Finding {
        if let application = applications.current[key] { return .known(application) }
        guard await applications.refresh(patience: patience) else { return .unavailable }
        return applications.current[key].map(Finding.known) ?? .unknown
    }

    /// Reads all of them again, since their declarations may have changed.
    func refresh() async {
        _ = await applications.refresh()
    }
}
