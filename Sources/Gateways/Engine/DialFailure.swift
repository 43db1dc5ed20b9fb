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

    init(_ reason: String) {
        let found = Self.known.first { reason.contains($0.phrase) }
        text = found?.text ?? ReasonText.storable(reason)
        isUntrusted = found?.isUntrusted ?? reason.contains("ertificate")
    }
}
