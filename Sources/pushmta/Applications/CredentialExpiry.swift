import Administration
import Foundation
import PushCore
import Store

/// Reports the expiry of a credential that was just set.
enum CredentialExpiry {
    /// Says when it expires, and warns if that is near. Says nothing if it does not expire.
    static func tell(_ material: CredentialMaterial, application: String, _ store: Store) async throws {
        guard let expiresAt = material.expiresAt else { return }
        let now = try await store.databaseClock()
        let left = expiresAt.timeIntervalSince1970 - Double(now.microsecondsSince1970) / 1_000_000
        StandardOutput.line("It \(ExpiryNotice.text(secondsLeft: left)).")
        if let warning = warning(secondsLeft: left, application: application) {
            StandardError.write("pushmta: warning: \(warning)\n")
        }
    }

    /// The warning about a near expiry; nil if it is not near.
    static func warning(secondsLeft: Double, application: String) -> String? {
        guard let notice = ExpiryNotice(secondsLeft: secondsLeft) else { return nil }
        let what = "the credential of \(application) \(ExpiryNotice.text(secondsLeft: secondsLeft))"
        let remedy = "set it with `pushmta credential set \(application) --key FILE`"
        return switch notice {
        case .month: "\(what): get a new one in time and \(remedy)"
        case .week: "\(what): get a new one this week and \(remedy)"
        case .day: "\(what), and then no delivery can be sent: get a new one now and \(remedy)"
        case .over: "\(what), and no delivery can be sent: get a new one and \(remedy)"
        }
    }
}
