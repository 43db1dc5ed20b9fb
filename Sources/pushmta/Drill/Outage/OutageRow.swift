import PushCore

/// One of the ways in which gateways are out, with a gateway of its own for an application of each platform.
struct OutageRow: Sendable {
    /// What is done to a gateway.
    enum Action: Sendable {
        /// The value of `outage` in its plan.
        case plan(Cell)
        /// What its endpoint of access tokens is told, as JSON; the tokens that are held expire meanwhile.
        case tokens(String)
        /// The process is stopped: its sockets stay, and nobody reads them.
        case freeze
        /// Packets to and from it are lost.
        case cut
    }

    /// Its name; the applications are called after it.
    let name: String
    /// What is done to APNs and to FCM; `nil`: there is no such application.
    var apns: Action?
    var fcm: Action?
    /// Not everything is refused: requests that are served go on, so their number says nothing.
    var isPartial = false
    /// It is noticed by silence only, which the PING timeout ends, and not by an answer or a refused connection.
    var isSilent = false
    /// What APNs says of it is about the message: an attempt each time (`TooManyRequests` is of one token).
    var apnsCountsAttempts = false

    /// The gateways of the row.
    var platforms: [Platform] { (apns == nil ? [] : [.ios]) + (fcm == nil ? [] : [.android]) }

    /// What is done to the gateway of a platform.
    func action(_ platform: Platform) -> Action? { platform == .ios ? apns : fcm }

    private static func reason(_ reason: String, retryAfter: String? = nil, share: Double = 1) -> Action {
        answer([("reason", .text(reason))], retryAfter, share)
    }

    /// An answer that is no gateway's.
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

    /// Every row.
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
        OutageRow(name: "tls", apns: connections("tls_alert"), fcm: connections("closed")),
        OutageRow(name: "silent", apns: silence, fcm: silence, isSilent: true),
        OutageRow(name: "frozen", apns: .freeze, fcm: .freeze, isSilent: true),
        OutageRow(name: "dropped", apns: .cut, fcm: .cut, isSilent: true),
        OutageRow(name: "token-500", fcm: .tokens(#"{"answer":{"status":500,"body":"{\"error\":\"internal\"}"}}"#)),
        OutageRow(name: "token-refused", fcm: .tokens(#"{"closed":true}"#)),
    ]
}
