import Administration
import PushCore
import WebServer

/// What an operator should know of the certificates that web processes serve HTTPS with.
enum WebCertificateNotice {
    private static let remedy =
        "put another one there, then send its process SIGHUP (systemctl reload): it is read again without a restart"

    /// What the files of this host's settings say; nil if they ask for no HTTPS.
    static func check(_ settings: WebSettings) -> CheckResult? {
        let subject = "web certificate"
        let file = settings.certificateFile
        switch WebCertificateCheck.result(settings) {
        case nil: return nil
        case .unusable(let reason): return CheckResult(subject, .failed, reason)
        case .good(let seconds):
            let text = "\(file) \(ExpiryNotice.text(secondsLeft: seconds))"
            switch ExpiryNotice(secondsLeft: seconds) {
            case nil: return CheckResult(subject, .ok, text)
            case .over: return CheckResult(subject, .failed, "\(text): \(remedy)")
            case .month, .week, .day: return CheckResult(subject, .warning, "\(text): \(remedy)")
            }
        }
    }
}
