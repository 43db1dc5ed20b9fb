import Foundation
import HTTPConnections
import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import ProcessEvents
import PushCore
import Store
import Synchronization

extension ServerCertificate {
    /// Reads the files that the web process's settings name.
    ///
    /// - Throws: ``WebServerError`` if they cannot be used.
    static func ofWeb(_ settings: WebSettings) throws(WebServerError) -> ServerCertificate {
        do throws(Problem) {
            return try ServerCertificate(
                Files(
                    certificate: settings.certificateFile,
                    key: settings.privateKeyFile,
                    certificateSetting: "web.certificateFile",
                    keySetting: "web.privateKeyFile",
                    use: "web.tlsPort"
                )
            )
        } catch {
            throw WebServerError(code: .setting, description: error.description)
        }
    }

    /// The time until it expires, in seconds; negative if it has expired.
    var secondsLeft: Double { Double(expires) - Date().timeIntervalSince1970 }

    /// The time until it expires, as the end of a sentence.
    var expiryText: String { ExpiryNotice.text(secondsLeft: secondsLeft) }
}

/// Adds TLS to the connections of ``WebChannel``; each uses the certificate that is current when it opens.
struct WebTLSChannel: ServerChildChannel {
    typealias Value = WebChannel.Value

    let base: WebChannel
    let certificate: ServerCertificate

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let context = certificate.context
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }.flatMap { base.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

/// Checks the certificate of a web process, for doctor and similar checks.
package struct WebCertificateCheck: Sendable {
    /// The problem of the files, or the time until the certificate expires.
    package enum Result: Sendable {
        /// The files cannot be used, for this reason.
        case unusable(String)
        /// The seconds until it expires; negative if it has expired.
        case good(secondsLeft: Double)
    }

    /// Reads the files named in the settings; nil if HTTPS is off.
    package static func result(_ settings: WebSettings) -> Result? {
        guard settings.tlsPort > 0 else { return nil }
        do {
            return .good(secondsLeft: try ServerCertificate.ofWeb(settings).secondsLeft)
        } catch {
            return .unusable(error.description)
        }
    }
}

/// Reloading and reporting the certificate of HTTPS.
extension WebServer {
    /// Reloads the certificate and key of HTTPS for new connections. If the files cannot be used, nothing changes.
    package func reloadCertificate() {
        guard let certificate = listeners.tlsCertificate else { return }
        do {
            try certificate.reload()
            setup.logger.notice("The certificate in web.certificateFile was reloaded: it \(certificate.expiryText).")
        } catch {
            setup.logger.failure("The certificate was not reloaded; the old one stays in use", of: error, level: .error)
        }
        certificateReport.withLock { $0 = nil }
    }

    /// Reports the certificate's expiry to the database, and logs a warning when it is near.
    func reportCertificate() async {
        guard let certificate = listeners.tlsCertificate else { return }
        let notice = ExpiryNotice(secondsLeft: certificate.secondsLeft)
        let isNews = certificateNotice.withLock { last in
            defer { last = notice }
            return notice != nil && notice != last
        }
        if isNews {
            setup.logger.warning(
                "The certificate \(setup.settings.web.certificateFile) (web.certificateFile) \(certificate.expiryText): replace it and send SIGHUP."
            )
        }
        let now = ContinuousClock.now
        guard certificateReport.withLock({ $0.map { $0 <= now } ?? true }) else { return }
        do {
            try await stores.reading.noteWebCertificate(
                host: setup.hostName,
                file: setup.settings.web.certificateFile,
                expires: certificate.expires
            )
            certificateReport.withLock { $0 = now + Self.certificatePause }
        } catch {
            setup.logger.failure("The certificate's expiry was not reported to the database", of: error)
        }
    }

    /// The time between two reports of a certificate. A process without a report for an hour counts as gone.
    private static let certificatePause = Duration.seconds(60)
}
