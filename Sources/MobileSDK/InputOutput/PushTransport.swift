import Foundation

/// Sends requests; an app may bring its own, for certificate pinning or a proxy.
public protocol PushTransport: Sendable {
    /// Sends a request and waits for the answer. Throws when no answer came.
    func send(_ request: PushRequest) async throws -> PushAnswer
}

/// A request that the SDK wants sent.
public struct PushRequest: Sendable, Equatable {
    /// `GET` or `POST`.
    public var method: String
    /// The address.
    public var url: String
    /// Headers beside those that the transport adds.
    public var headers: [String: String]
    /// The form, if there is one.
    public var body: String?

    /// Makes a request.
    public init(method: String, url: String, headers: [String: String], body: String?) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// A server's answer.
public struct PushAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// The body; its first line is shown when the server refuses.
    public var body: Data
    /// The header `Retry-After`, if the server sent it.
    public var retryAfter: String?

    /// Makes an answer.
    public init(status: Int, body: Data = Data(), retryAfter: String? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// What became of a request.
enum TransportResult: Sendable, Equatable {
    /// The server answered.
    case answer(status: Int, reason: String, retryAfter: Double?)
    /// It did not, and why.
    case failure(reason: String)

    /// The most that is shown of an answer.
    static let longestReason = 200

    init(_ answer: PushAnswer) {
        let text = String(decoding: answer.body.prefix(4 * Self.longestReason), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        // A proxy's error page says nothing in its first line.
        let reason = line.isEmpty || line.hasPrefix("<") ? "HTTP status \(answer.status)" : line
        let seconds = answer.retryAfter.flatMap { Double($0.trimmingCharacters(in: .whitespaces)) }
        self = .answer(
            status: answer.status,
            reason: String(reason.prefix(Self.longestReason)),
            retryAfter: seconds.flatMap { $0.isFinite && $0 > 0 ? $0 : nil }
        )
    }

    var isSuccess: Bool {
        if case .answer(status: 200, _, _) = self { true } else { false }
    }

    /// Whether the same request may succeed later: nobody answered, or a server that is busy or broken, or something between here
    /// and there, as the network of a hotel, sends its clients to a page of its own.
    var isWorthRetrying: Bool {
        switch self {
        case .failure, .answer(status: 300...399, _, _), .answer(status: 408, _, _), .answer(status: 425, _, _),
            .answer(status: 429, _, _), .answer(status: 500...599, _, _):
            true
        case .answer: false
        }
    }

    var reason: String {
        switch self {
        case .answer(_, let reason, _), .failure(let reason): reason
        }
    }

    var retryAfter: Double? {
        if case .answer(_, _, let seconds) = self { seconds } else { nil }
    }

    /// What it means for a registration.
    var registrationOutcome: RegistrationOutcome {
        switch self {
        case .answer(status: 200, _, _): .success
        case .answer(status: 404, _, _): .unknownIntegrationKey
        case .answer(_, let reason, _): .unexpectedError(reason: reason)
        case .failure(let reason): .connectionIssue(reason: reason)
        }
    }
}

/// The address of a marketing or tracking server, as an app names it.
///
/// The old SDK took `https://host:port/`, the newer one `host[:port][/path]`; both are understood, and without a scheme
/// it is https.
enum ServerHost {
    /// The address without a slash at its end; nil when the text names no server.
    static func base(_ text: String?) -> String? {
        guard var base = text?.trimmingCharacters(in: .whitespacesAndNewlines), !base.isEmpty else { return nil }
        if !base.contains("://") { base = "https://" + base }
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: base), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.query == nil, url.fragment == nil
        else { return nil }
        return base
    }
}
