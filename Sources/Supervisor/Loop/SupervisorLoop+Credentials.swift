import Logging
import PushCore
import Store
import Synchronization

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
            switch warning.notice {
            case .month: logger.notice("\(warning.text)")
            case .week: logger.warning("\(warning.text)")
            case .day, .over: logger.error("\(warning.text)")
            }
        }
    }
}
