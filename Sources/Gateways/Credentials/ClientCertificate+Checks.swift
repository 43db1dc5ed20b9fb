#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What can be said against a certificate before anybody connects with it.
extension ClientCertificate {
    /// Checks that the certificate is good at a moment.
    public func requireValidity(at now: Date) throws(GatewayCredentialError) {
        if now >= notAfter {
            throw Self.error(
                .expired,
                "it has expired on \(Self.day(notAfter)): make a new one in Apple's developer account and set it"
            )
        }
        if now < notBefore {
            throw Self.error(
                .expired,
                "it is good from \(Self.day(notBefore)) on only: wait until then, or check the clock of this machine and of the database's"
            )
        }
    }

    /// Checks that the certificate may be used in an environment.
    public func requireEnvironment(isSandbox: Bool) throws(GatewayCredentialError) {
        guard isSandbox ? allowsSandbox : allowsProduction else {
            let (given, wanted) = isSandbox ? ("production", "sandbox") : ("sandbox", "production")
            throw Self.error(
                .wrongApplication,
                "it is for the \(given) environment and the application is of the \(wanted) one: set the certificate of the \(wanted) environment"
            )
        }
    }

    /// Checks that the certificate may send to a bundle id; one that names no topics may send to any.
    public func requireTopic(_ bundleID: String) throws(GatewayCredentialError) {
        guard !topics.isEmpty, !topics.contains(bundleID), !topics.contains(where: { $0.hasPrefix(bundleID + ".") })
        else { return }
        throw Self.error(
            .wrongApplication,
            "it may send to \(topics.prefix(5).joined(separator: ", ")) and the application's bundle id is \(bundleID): set the certificate of this application, or correct its bundle id"
        )
    }

    static func error(_ problem: PKCS12Problem, hasPassphrase: Bool) -> GatewayCredentialError {
        switch problem {
        case .malformed:
            error(
                .malformed,
                "it is no PKCS#12 file, is damaged, or has more than \(PKCS12File.mostBytes) bytes: export certificate and private key as .p12"
            )
        case .wrongPassphrase:
            error(
                .wrongPassphrase,
                hasPassphrase
                    ? "the passphrase is not the one that it was exported with: give that one"
                    : "it is protected with a passphrase and none was given: give the one that it was exported with"
            )
        case .unsupported(let algorithm):
            error(
                .malformed,
                "it is protected in a way that is not supported (algorithm \(ReasonText.storable(algorithm))): export it anew, for example with openssl pkcs12 -export"
            )
        case .tooSlow:
            error(
                .malformed,
                "its passphrase is protected with more than \(PKCS12Decryption.mostRounds) rounds: export it anew with fewer"
            )
        }
    }

    static func error(_ code: GatewayCredentialError.Code, _ what: String) -> GatewayCredentialError {
        GatewayCredentialError(code, "the certificate cannot be used: \(what)")
    }

    /// A moment's day and time in UTC, as `2026-11-21 10:00 UTC`.
    static func day(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(5) + " UTC"
    }
}
