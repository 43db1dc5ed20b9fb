import HTTP2
import NIOCore
import PushCore

/// Turns trouble into events for the operator, each once and not once a message.
struct GatewayReports {
    /// Connections are replaced because of answers at most this often: Apple takes more for an attack.
    private static let replacementInterval = TimeAmount.seconds(10)
    /// A paused project is told of at most this often.
    private static let throttleInterval = TimeAmount.seconds(10)

    let gateway: String
    let address: GatewayAddress
    private var isUnreachable = false
    /// Connections that are open; one that never was has its own event.
    private var openConnections = 0
    private var lacksToken = false
    private var stopReasons: Set<String> = []
    private var lastReplacement: NIODeadline?
    private var lastThrottle: NIODeadline?

    init(gateway: String, address: GatewayAddress) {
        self.gateway = gateway
        self.address = address
    }

    /// Whether an accepted message is news.
    var isInTrouble: Bool { !stopReasons.isEmpty }

    mutating func accepted() -> GatewayEvent? {
        guard isInTrouble else { return nil }
        stopReasons = []
        return GatewayEvent(
            .recovered,
            message: "\(gateway) gateway \(address) accepts messages of the application again"
        )
    }

    mutating func opened(_ peer: String) -> GatewayEvent? {
        let kind: GatewayEvent.Kind = isUnreachable ? .recovered : .connected
        isUnreachable = false
        openConnections += 1
        return GatewayEvent(kind, message: "connected to \(gateway) gateway \(address) at \(peer)")
    }

    mutating func dialFailed(_ reason: String, _ attempt: Int, _ delay: Int64) -> GatewayEvent? {
        isUnreachable = true
        let cause = DialFailure(reason)
        return GatewayEvent(
            cause.isUntrusted ? .untrusted : .unreachable,
            reason: cause.text,
            message: "\(gateway) gateway \(address) cannot be reached (attempt \(attempt)): \(cause.text). "
                + "Messages stay pending and the next attempt follows in \(delay) ms; \(cause.wayOut).",
            retryInMilliseconds: delay
        )
    }

    mutating func closed(_ reason: String?) -> GatewayEvent? {
        guard openConnections > 0 else { return nil }
        openConnections -= 1
        guard let reason else { return nil }
        return GatewayEvent(
            .connectionLost,
            reason: DialFailure(reason).text,
            message: "a connection to \(gateway) gateway \(address) was lost: \(DialFailure(reason).text). "
                + "Another one is made."
        )
    }

    mutating func goAway(_ code: HTTP2ErrorCode, _ reason: String, _ row: AnswerRow) -> GatewayEvent? {
        let said = reason.isEmpty ? code.description : "\(code), \(reason)"
        let text = "\(gateway) gateway \(address) ended a connection (GOAWAY \(said)): \(row.explanation)."
        guard row.application == .stop else { return GatewayEvent(.goAway, reason: reason, message: text) }
        guard stopReasons.insert(reason).inserted else { return nil }
        return GatewayEvent(.applicationStopped, reason: reason, message: text + " Messages stay pending.")
    }

    mutating func answer(_ verdict: Verdict) -> GatewayEvent? {
        let outcome = verdict.outcome
        let said = verdict.text.isEmpty ? outcome.reason : "\(outcome.reason): \(verdict.text)"
        let text = "\(gateway) gateway \(address) answers \(outcome.status) (\(said)): \(verdict.row.explanation)."
        if verdict.row.application == .stop {
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

    /// The server does not take the client's certificate; nil if something else is the matter.
    mutating func certificateRefused(_ reason: String) -> GatewayEvent? {
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

    /// Whether connections may be replaced now; remembers that they are.
    mutating func mayReplaceConnections() -> Bool {
        let now = NIODeadline.now()
        if let last = lastReplacement, now - last < Self.replacementInterval { return false }
        lastReplacement = now
        return true
    }
}
