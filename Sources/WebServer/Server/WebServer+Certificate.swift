import Logging
import PushCore
import Store
import Synchronization

/// The certificate of HTTPS while the process runs.
extension WebServer {
    /// Reads the certificate of HTTPS and its key again, for the connections that come from now on; files that cannot be used change
    /// nothing.
    public func reloadCertificate() {
        guard let certificate = listeners.tlsCertificate else { return }
        do {
            try certificate.reload()
            setup.logger.notice("The certificate of web.certificateFile was read again: it \(certificate.expiryText).")
        } catch {
            setup.logger.error("The certificate stays the one that was read before: \(error)")
        }
        certificateReport.withLock { $0 = nil }
    }

    /// Tells the database until when the certificate is good, and the log when its end is near.
    func reportCertificate() async {
        guard let certificate = listeners.tlsCertificate else { return }
        let notice = ExpiryNotice(secondsLeft: certificate.secondsLeft)
        let isNews = certificateNotice.withLock { last in
            defer { last = notice }
            return notice != nil && notice != last
        }
        if isNews {
            setup.logger.warning(
                "The certificate \(setup.settings.web.certificateFile) (web.certificateFile) \(certificate.expiryText): put another one there and send SIGHUP."
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
            setup.logger.warning("The database was not told of the certificate: \(error)")
        }
    }

    /// Between two reports of the same certificate; who sees none for an hour takes the process for gone.
    private static let certificatePause = Duration.seconds(60)
}
