import Administration
import PushCore

/// One way in which gateways are down, with its own gateway for an application of each platform.
struct OutageRow: Sendable {
    /// What happens to a gateway.
    enum Action: Sendable {
        /// The value of `outage` in its plan.
        case plan(Cell)
        /// JSON for the faults of its token endpoint. The access tokens that the engine holds expire meanwhile.
        case tokens(String)
        /// The process is suspended. Its sockets stay open, but it does not read them.
        case freeze
        /// Packets to and from it are dropped.
        case cut
    }

    /// The row's name, which is also in the applications' names.
    let name: String
    /// What happens to APNs and to FCM; `nil`: there is no such application.
    var apns: Action?
    var fcm: Action?
    /// Whether some requests are still served. Their number is then not limited.
    var isPartial = false
    /// Whether only silence shows the outage, which the PING timeout ends. There is no answer and no refused
    /// connection.
    var isSilent = false
    /// Whether APNs's answer concerns the single message, so that it counts as an attempt (`TooManyRequests` is about
    /// one token).
    var apnsCountsAttempts = false
    /// The number of single messages sent during the outage, in addition to the bulk delivery.
    var singles = 0

    /// Whether no connection can be established, so that the gateway sees only dials.
    var refusesConnections: Bool { ["refused", "protocol", "tls"].contains(name) }

    /// The gateways of the row.
    var platforms: [Platform] { (apns == nil ? [] : [.ios]) + (fcm == nil ? [] : [.android]) }

    /// What happens to the gateway of a platform.
    func action(_ platform: Platform) -> Action? { platform == .ios ? apns : fcm }

    private static func reason(_ reason: String, retryAfter: String? = nil, share: Double = 1) -> Action {
        answer([("reason", .text(reason))], retryAfter, share)
    }

    /// A proxy's answer: an HTML page.
    private static func page(_ status: Int64, _ title: String) -> Action {
        answer(
            [
                ("status", .integer(status)), ("headers", .object([("content-type", "text/html")])),
                ("body", .text("<html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>")),
            ],
            nil,
            1
        )
    }

    private static func answer(_ fields: [(String, Cell)], _ retryAfter: String?, _ share: Double) -> Action {
        let after = retryAfter.map { [("retry_after", Cell.text($0))] } ?? []
        return .plan(.object([("answer", .object(fields + after)), ("share", .number(share))]))
    }

    private static func connections(_ what: String) -> Action { .plan(.object([("connections", .text(what))])) }

    private static let silence = answer([("silence", .flag(true))], nil, 1)

    static let all = [
        OutageRow(name: "unavailable", apns: reason("ServiceUnavailable"), fcm: reason("UNAVAILABLE")),
        OutageRow(
            name: "retry-after",
            apns: reason("ServiceUnavailable", retryAfter: "2"),
            fcm: reason("UNAVAILABLE", retryAfter: "1")
        ),
        OutageRow(
            name: "half",
            apns: reason("ServiceUnavailable", share: 0.5),
            fcm: reason("UNAVAILABLE", share: 0.5),
            isPartial: true
        ),
        OutageRow(name: "internal", apns: reason("InternalServerError"), fcm: reason("INTERNAL")),
        OutageRow(
            name: "quota",
            apns: reason("TooManyRequests"),
            fcm: reason("QUOTA_EXCEEDED"),
            apnsCountsAttempts: true
        ),
        OutageRow(name: "balancer", apns: page(421, "Misdirected Request"), fcm: page(502, "Bad Gateway")),
        OutageRow(name: "proxy", apns: page(407, "Proxy Authentication Required"), fcm: page(400, "Bad Request")),
        OutageRow(name: "refused", apns: connections("refused"), fcm: connections("refused")),
        // The gateway sends bytes of another protocol. The sockets stay open, so only the client notices that they are
        // unusable.
        OutageRow(name: "protocol", apns: connections("broken"), fcm: connections("broken")),
        OutageRow(
            name: "singles",
            apns: reason("ServiceUnavailable"),
            fcm: reason("UNAVAILABLE"),
            singles: 200
        ),
        OutageRow(name: "tls", apns: connections("tls_alert"), fcm: connections("closed")),
        OutageRow(name: "silent", apns: silence, fcm: silence, isSilent: true),
        OutageRow(name: "frozen", apns: .freeze, fcm: .freeze, isSilent: true),
        OutageRow(name: "dropped", apns: .cut, fcm: .cut, isSilent: true),
        OutageRow(name: "token-500", fcm: .tokens(#"{"answer":{"status":500,"body":"{\"error\":\"internal\"}"}}"#)),
        OutageRow(name: "token-refused", fcm: .tokens(#"{"closed":true}"#)),
    ]
}
