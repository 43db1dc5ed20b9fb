import HTTP2
import NIOCore
import PushCore

/// Turns trouble into events for the operator: each once, not once per message.
package struct GatewayReports: Sendable {
    /// The minimum interval between connection replacements caused by answers. Apple may treat more frequent ones as an
    /// attack.
    private static let replacementInterval = TimeAmount.seconds(10)
    /// The minimum interval between reports of a paused project.
    private static let throttleInterval = TimeAmount.seconds(10)

    package let gateway: String
    package let address: GatewayAddress
    private var isUnreachable = false
    /// Open connections. One that never opened has its own event.
    private var openConnections = 0
    private var lacksToken = false
    /// The gateway allows no streams, so all messages wait.
    private var allowsNothing = false
    private var stopReasons: Set<String> = []
    private var lastReplacement: NIODeadline?
    private var lastThrottle: NIODeadline?

    package init(gateway: String, address: GatewayAddress) {
        self.gateway = gateway
        self.address = address
    }

    /// Whether an accepted message is worth an event.
    package var isInTrouble: Bool { !stopReasons.isEmpty }

    package mutating func accepted() -> GatewayEvent? {
        guard isInTrouble else { return nil }
        stopReasons = []
        return GatewayEvent(
            .recovered,
            message: "\(gateway) gateway \(address) accepts messages of the application again"
        )
    }

    package mutating func opened(_ peer: String) -> GatewayEvent? {
        let kind: GatewayEvent.Kind = isUnreachable ? .recovered : .connected
        isUnreachable = false
        openConnections += 1
        return GatewayEvent(kind, message: "connected to \(gateway) gateway \(address) at \(peer)")
    }

    package mutating func dialFailed(_ reason: String, _ attempt: Int, _ delay: Int64) -> GatewayEvent? {
        isUnreachable = true
        let cause = DialFailure(reason)
        return GatewayEvent(
            cause.isUntrusted ? .untrusted : .unreachable,
            reason: cause.text,
            message: "\(gateway) gateway \(address) cannot be reached (attempt \(attempt)): \(cause.text). "
                + "Messages stay pending and the next attempt follows in \(delay) ms; \(cause.wayOut).",
            standing: "\(gateway) gateway \(address) cannot be reached: \(cause.text). "
                + "Messages stay pending, and PushMTA keeps trying; \(cause.wayOut).",
            retryInMilliseconds: delay
        )
    }

    /// The gateway changed the number of streams per connection.
    mutating func limited(_ streams: Int) -> GatewayEvent? {
        guard allowsNothing != (streams == 0) else { return nil }
        allowsNothing = streams == 0
        guard allowsNothing else {
            return GatewayEvent(.recovered, message: "\(gateway) gateway \(address) allows streams again")
        }
        return GatewayEvent(
            .unreachable,
            reason: "no streams allowed",
            message:
                "\(gateway) gateway \(address) is connected and allows 0 streams (SETTINGS_MAX_CONCURRENT_STREAMS): "
                + "nothing can be sent. Messages stay pending until it allows some; check for a proxy or firewall between this host and the gateway."
        )
    }

    package mutating func closed(_ reason: String?) -> GatewayEvent? {
        guard openConnections > 0 else { return nil }
        openConnections -= 1
        guard let reason else { return nil }
        return GatewayEvent(
            .connectionLost,
            reason: DialFailure(reason).text,
            message: "a connection to \(gateway) gateway \(address) was lost: \(DialFailure(reason).text). "
                + "A new one is opened."
        )
    }

    mutating func goAway(_ code: HTTP2ErrorCode, _ reason: String, _ row: AnswerRow) -> GatewayEvent? {
        let said = reason.isEmpty ? code.description : "\(code), \(reason)"
        let text = "\(gateway) gateway \(address) ended a connection (GOAWAY \(said)): \(row.explanation)."
        guard row.application == .stop else { return GatewayEvent(.goAway, reason: reason, message: text) }
        guard stopReasons.insert(reason).inserted else { return nil }
        return GatewayEvent(.applicationStopped, reason: reason, message: text + " Messages stay pending.")
    }

    package mutating func answer(_ decision: Decision) -> GatewayEvent? {
        let outcome = decision.outcome
        let said = decision.text.isEmpty ? outcome.reason : "\(outcome.reason): \(decision.text)"
        let text = "\(gateway) gateway \(address) answers \(outcome.status) (\(said)): \(decision.row.explanation)."
        if decision.row.application == .stop {
            guard stopReasons.insert("\(outcome.status) \(outcome.reason)").inserted else { return nil }
            return GatewayEvent(
                .applicationStopped,
                reason: outcome.reason,
                status: outcome.status,
                message: text + " Messages stay pending."
            )
        }
        let now = NIODeadline.now()
        if let last = lastThrottle, now - last < Self.throttleInterval { return nil }
        lastThrottle = now
        return GatewayEvent(
            .applicationThrottled,
            reason: outcome.reason,
            status: outcome.status,
            message: text,
            retryInMilliseconds: outcome.retryAfterMilliseconds.map(Int64.init)
        )
    }

    /// The event for a client certificate that the server refuses; nil if the cause is another.
    package mutating func certificateRefused(_ reason: String) -> GatewayEvent? {
        guard let text = DialFailure.certificateRefusal(reason) else { return nil }
        isUnreachable = true
        guard stopReasons.insert("certificate").inserted else { return nil }
        return GatewayEvent(
            .applicationStopped,
            reason: "CertificateRefused",
            message: "\(gateway) gateway \(address) refuses the connection: \(text). Set a valid certificate of the "
                + "application and its environment. Messages stay pending."
        )
    }

    mutating func tokenReady() -> GatewayEvent? {
        let kind: GatewayEvent.Kind = lacksToken ? .recovered : .tokenRenewed
        lacksToken = false
        return GatewayEvent(kind, message: "a new access token for \(gateway) gateway \(address) was fetched")
    }

    mutating func tokenUnavailable(_ failure: TokenFailure, retryInMilliseconds: Int64) -> GatewayEvent? {
        lacksToken = true
        return GatewayEvent(
            .tokenUnavailable,
            reason: failure.reason,
            status: failure.status,
            message: failure.message,
            retryInMilliseconds: retryInMilliseconds
        )
    }

    mutating func tokenRefused(_ failure: TokenFailure) -> GatewayEvent? {
        lacksToken = true
        stopReasons.insert("\(failure.status) \(failure.reason)")
        return GatewayEvent(
            .applicationStopped,
            reason: failure.reason,
            status: failure.status,
            message: failure.message + " Messages stay pending."
        )
    }

    /// Whether connections may be replaced now; if so, notes the replacement.
    mutating func mayReplaceConnections() -> Bool {
        let now = NIODeadline.now()
        if let last = lastReplacement, now - last < Self.replacementInterval { return false }
        lastReplacement = now
        return true
    }
}

/// Why a connection could not be made or ended, in words.
package struct DialFailure: Sendable {
    /// Phrases in the errors of NIO, BoringSSL and the system, and what they mean to an operator.
    private static let known: [(phrase: String, text: String, isUntrusted: Bool)] = [
        ("CERTIFICATE_VERIFY_FAILED", "its certificate is not signed by a trusted authority, or has expired", true),
        ("unableToValidateCertificate", "its certificate does not name this host", true),
        ("failedToValidateHostname", "its certificate does not name this host", true),
        ("SocketAddressError.UnknownHost", "DNS does not know its name", false),
        ("WRONG_VERSION_NUMBER", "the port does not speak TLS", false),
        ("EOF during handshake", "the connection was closed during the TLS handshake", false),
        ("Connection refused", "connection refused, nothing listens on this port", false),
        ("Connection reset", "connection reset", false),
        ("Network is unreachable", "network unreachable", false),
        ("No route to host", "no route to host", false),
        ("connectTimeout", "no connection within the time limit", false),
    ]

    /// The cause; an unknown error is shown as it is.
    package let text: String
    /// Whether the server's certificate is the cause.
    let isUntrusted: Bool
    /// Whether the proxy refused the connection.
    let isProxys: Bool
    /// Whether the server refuses the client's certificate.
    let isRefusedCertificate: Bool

    /// TLS alerts about a client's certificate (RFC 8446 section 6.2), as BoringSSL writes them.
    private static let certificateAlerts: [(phrase: String, text: String)] = [
        ("ALERT_CERTIFICATE_EXPIRED", "it says that the certificate has expired"),
        ("ALERT_CERTIFICATE_REVOKED", "it says that the certificate was revoked"),
        ("ALERT_CERTIFICATE_UNKNOWN", "it does not accept the certificate"),
        ("ALERT_CERTIFICATE_REQUIRED", "it requires a certificate"),
        ("ALERT_BAD_CERTIFICATE", "it says that the certificate is invalid"),
        ("ALERT_UNSUPPORTED_CERTIFICATE", "it does not accept certificates of this kind"),
        ("ALERT_UNKNOWN_CA", "it does not know who signed the certificate"),
        ("ALERT_ACCESS_DENIED", "it says that the certificate does not grant access"),
    ]

    /// The server's objection to the client's certificate; nil if that is not the cause.
    static func certificateRefusal(_ reason: String) -> String? {
        certificateAlerts.first { reason.contains($0.phrase) }?.text
    }

    package init(_ reason: String) {
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
        if isRefusedCertificate { return "set the application's certificate again with `pushmta credential set`" }
        return isUntrusted
            ? "check the gateway's certificate, the CA file in the settings (trustedCertsChain) and this machine's clock"
            : "check host and port of the external account, DNS, firewall and network"
    }
}
