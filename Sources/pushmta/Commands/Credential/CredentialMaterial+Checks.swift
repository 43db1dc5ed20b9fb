import Foundation
import Gateways
import PushCore

extension CredentialMaterial {
    /// Checks what can be known before the gateway says it: that its time is not over, and that it is for the application's
    /// environment and bundle id.
    func check(environment: ApplicationEnvironment, bundleID: String, now: Date) throws {
        do {
            if let certificate {
                try certificate.requireValidity(at: now)
                try certificate.requireEnvironment(isSandbox: environment == .sandbox)
                try certificate.requireTopic(bundleID)
            }
        } catch {
            throw CommandFailure(.data, "\(error)")
        }
        guard let expiresAt, certificate == nil else { return }
        guard expiresAt > now else {
            throw CommandFailure(
                .data,
                "--expires is in the past: give the day on which the credential ends, or a new one."
            )
        }
        guard expiresAt <= now + Self.longestLife else {
            throw CommandFailure(
                .data,
                "--expires is more than ten years away: check the year, or leave the option out for a credential that does not end."
            )
        }
    }

    /// Ten years of 365 days and three leap days: nobody plans the end of a key for later, and a mistyped year gives centuries.
    private static let longestLife: TimeInterval = (10 * 365 + 3) * 86_400

    /// Checks that a certificate may serve both environments, where somebody says so.
    func requireBothEnvironments() throws {
        guard certificate?.namesBothEnvironments == true else {
            throw CommandFailure(
                .data,
                "--both-environments is for certificates that Apple issued for sandbox and production, and this one does not say so: set a certificate for each environment."
            )
        }
    }
}
