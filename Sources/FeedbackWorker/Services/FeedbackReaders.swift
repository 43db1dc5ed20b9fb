import Gateways
import PushCore
import Store

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes the readers of feedback services of what the database and the settings say.
struct FeedbackReaders: Sendable {
    let store: Store
    let settings: Settings
    /// The process's variables, for systemd's credentials and for a proxy.
    let environment: [String: String]

    /// The reader of a service, with the application's certificate.
    func reader(_ application: ApplicationRow, _ account: AccountRow) async throws -> APNsFeedbackReader {
        let place = try GatewayAccount(
            name: account.name,
            host: account.host,
            port: account.port,
            options: account.options
        )
        let time = try await store.databaseClock()
        let now = Date(timeIntervalSince1970: Double(time.microsecondsSince1970) / 1_000_000)
        return try GatewayFactory(now: { now }).feedbackReader(
            address: place.feedbackAddress,
            credential: try await certificate(of: application),
            options: try place.options(settings, environment: environment)
        )
    }

    private func certificate(of application: ApplicationRow) async throws -> GatewayCredential {
        let row = try await store.credential(application: application.id)
        guard row.kind == .apnsCertificate else {
            throw GatewaySetupFailure(
                "the credential of application \(application.name) is no certificate, and a feedback service takes nothing else: "
                    + "set one with 'pushmta credential set \(application.name)'",
                isHostsFault: false
            )
        }
        let keys = try CredentialKeySource.load(settings, environment: environment)
        let material = try keys.open(row.sealed, keyID: row.sealKeyID, credentialID: row.id)
        let certificate = try SealedCertificate(material: material)
        return .apnsCertificate(pkcs12: certificate.pkcs12, passphrase: certificate.passphrase)
    }
}
