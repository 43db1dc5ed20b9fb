import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Warns of credentials that expire soon: once per step and day, not at each look.
struct CredentialWatch: Sendable {
    /// A warning to log.
    struct Warning: Sendable, Hashable {
        /// How soon it expires.
        let notice: ExpiryNotice
        /// Which credential of which applications expires when, and what to do.
        let text: String
        /// The names of the applications.
        let applications: String
    }

    private struct Said: Hashable {
        var credential: Int64
        var notice: ExpiryNotice
        var day: Int64
    }

    private var said: Set<Said> = []

    /// Checks credentials; returns the warnings not yet given today.
    ///
    /// - Parameter day: the number of the day on the database's clock.
    mutating func look(_ credentials: [CredentialNotice], day: Int64) -> [Warning] {
        said = said.filter { $0.day == day }
        var warnings: [Warning] = []
        for credential in credentials {
            guard let left = credential.secondsLeft, let notice = ExpiryNotice(secondsLeft: left) else { continue }
            let entry = Said(credential: credential.id, notice: notice, day: day)
            guard said.insert(entry).inserted else { continue }
            warnings.append(
                Warning(
                    notice: notice,
                    text: credential.expiryText(left),
                    applications: credential.applications.joined(separator: ", ")
                )
            )
        }
        return warnings
    }
}

extension CredentialNotice {
    /// Which credential expires when, and what to do.
    fileprivate func expiryText(_ secondsLeft: Double) -> String {
        let names = applications.joined(separator: ", ")
        return "Credential \(id) (\(kind.text), \(fingerprint.prefix(16))) of \(names) "
            + "\(ExpiryNotice.text(secondsLeft: secondsLeft)): get a new one and set it with `pushmta credential set`"
    }
}

extension SupervisorLoop {
    /// A credential set shortly before it expires is soon reported. Each warning is logged once a day, however often
    /// this looks.
    static let credentialInterval = Duration.seconds(60)

    /// Logs credentials that expire soon.
    func watchCredentials(_ store: Store) async throws {
        let expiring = try await store.expiringCredentials(withinDays: ExpiryNotice.firstDays)
        let now = try await store.databaseClock()
        let warnings = credentialWatch.withLock {
            $0.look(expiring, day: now.microsecondsSince1970 / 86_400_000_000)
        }
        for warning in warnings {
            let level: Logger.Level =
                switch warning.notice {
                case .month: .notice
                case .week: .warning
                case .day, .over: .error
                }
            let keys: Logger.Metadata = ["application": "\(warning.applications)"]
            logger.event(.credentialExpiring, "\(warning.text)", level: level, keys)
        }
    }
}
