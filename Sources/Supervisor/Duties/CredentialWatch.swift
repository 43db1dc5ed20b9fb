import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Warns of credentials whose end is near: once for each step and day, not with each look.
struct CredentialWatch: Sendable {
    /// What is to be told.
    struct Warning: Sendable, Hashable {
        /// How near the end is.
        let notice: ExpiryNotice
        /// Which credential of which applications, and what to do.
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

    /// Looks at credentials; returns what has not been said today.
    ///
    /// - Parameter day: a number of the day on the database's clock.
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
    /// Which credential ends when, and what to do.
    fileprivate func expiryText(_ secondsLeft: Double) -> String {
        let names = applications.joined(separator: ", ")
        return "credential \(id) (\(kind.text), \(fingerprint.prefix(16))) of \(names) "
            + "\(ExpiryNotice.text(secondsLeft: secondsLeft)): get a new one and set it with `pushmta credential set`"
    }
}

extension SupervisorLoop {
    /// Who sets a credential whose end is near reads it in the log soon. Each thing is said once a day, however often it is looked.
    static let credentialInterval = Duration.seconds(60)

    /// Looks for credentials whose end is near, and says so in the log.
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
