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
        guard let expiresAt, certificate == nil, expiresAt <= now else { return }
        throw CommandFailure(
            .data,
            "--expires is in the past: give the day on which the credential ends, or a new one."
        )
    }

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
