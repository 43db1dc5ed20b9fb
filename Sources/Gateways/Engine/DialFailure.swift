/// Why a connection did not come about or ended, in words for people.
struct DialFailure {
    /// Phrases in the errors of NIO, BoringSSL and the system, and what they mean to an operator.
    private static let known: [(phrase: String, text: String, isUntrusted: Bool)] = [
        ("CERTIFICATE_VERIFY_FAILED", "its certificate is signed by nobody that is trusted here, or has expired", true),
        ("unableToValidateCertificate", "its certificate does not name this host", true),
        ("WRONG_VERSION_NUMBER", "no TLS is spoken on this port", false),
        ("EOF during handshake", "the connection was closed during the TLS handshake", false),
        ("Connection refused", "connection refused, nobody listens on this port", false),
        ("Connection reset", "connection reset", false),
        ("Network is unreachable", "network unreachable", false),
        ("No route to host", "no route to host", false),
        ("connectTimeout", "no connection within the time limit", false),
    ]

    /// The cause; what is not known is given as it came.
    let text: String
    /// Whether the server's certificate is the cause.
    let isUntrusted: Bool
    /// Whether it was the proxy on the way that did not let the connection through.
    let isProxys: Bool
    /// Whether the server refuses the client's certificate.
    let isRefusedCertificate: Bool

    /// What servers say of a client's certificate (RFC 8446 section 6.2), as BoringSSL writes it.
    private static let certificateAlerts: [(phrase: String, text: String)] = [
        ("ALERT_CERTIFICATE_EXPIRED", "it says that the certificate has expired"),
        ("ALERT_CERTIFICATE_REVOKED", "it says that the certificate was revoked"),
        ("ALERT_CERTIFICATE_UNKNOWN", "it does not accept the certificate"),
        ("ALERT_CERTIFICATE_REQUIRED", "it wants a certificate"),
        ("ALERT_BAD_CERTIFICATE", "it says that the certificate is bad"),
        ("ALERT_UNSUPPORTED_CERTIFICATE", "it does not take certificates of this kind"),
        ("ALERT_UNKNOWN_CA", "it does not know who signed the certificate"),
        ("ALERT_ACCESS_DENIED", "it says that the certificate gives no access"),
    ]

    /// What the server says against the client's certificate; nil if that is not the cause.
    static func certificateRefusal(_ reason: String) -> String? {
        certificateAlerts.first { reason.contains($0.phrase) }?.text
    }

    init(_ reason: String) {
        isProxys = reason.hasPrefix("the proxy ")
        let found = isProxys ? nil : Self.known.first { reason.contains($0.phrase) }
        let refusal = isProxys ? nil : Self.certificateRefusal(reason)
        isRefusedCertificate = refusal != nil
        text = refusal ?? found?.text ?? ReasonText.storable(reason)
        isUntrusted = refusal == nil && (found?.isUntrusted ?? (!isProxys && reason.contains("ertificate")))
    }

    /// What to do about it.
    var wayOut: String {
        if isProxys { return "check the settings nmac.proxyHTTP and what the proxy allows" }
        if isRefusedCertificate { return "set the application's certificate anew with `pushmta credential set`" }
        return isUntrusted
            ? "check the gateway's certificate, the CA file in the settings (trustedCertsChain) and this machine's clock"
            : "check host and port of the external account, DNS, firewall and network"
    }
}
