import Foundation

/// The result of a request.
enum TransportResult: Sendable, Equatable {
    /// The server answered.
    case answer(status: Int, reason: String, retryAfter: Double?)
    /// The server did not answer, and why.
    case failure(reason: String)

    /// The maximum length of a reported reason, in characters.
    static let longestReason = 200

    init(_ answer: PushAnswer) {
        let text = String(decoding: answer.body.prefix(4 * Self.longestReason), as: UTF8.self)
        let line = text.split(whereSeparator: \.isNewline).first.map { $0.trimmingCharacters(in: .whitespaces) } ?? ""
        // The first line of a proxy's error page is HTML and tells nothing.
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

    /// Whether the same request may succeed later. This is so if there was no answer, if the server is busy or broken,
    /// or if something in between redirected the request, as the network of a hotel does.
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

    /// The outcome of a registration with this result.
    var registrationOutcome: RegistrationOutcome {
        switch self {
        case .answer(status: 200, _, _): .success
        case .answer(status: 404, _, _): .unknownIntegrationKey
        case .answer(_, let reason, _): .unexpectedError(reason: reason)
        case .failure(let reason): .connectionIssue(reason: reason)
        }
    }
}
