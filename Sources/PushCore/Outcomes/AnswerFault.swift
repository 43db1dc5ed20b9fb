/// The cause of a failed attempt, as an answer or its absence shows it.
///
/// It decides whether the attempt counts against the message (`max_retries`), and which other messages wait.
package enum AnswerFault: String, Sendable, Hashable, Codable, CaseIterable {
    /// No cause: the message was accepted, or the answer does not blame the gateway.
    case none
    /// The message or its token: the attempt counts.
    case message
    /// The gateway. The message keeps its attempts and waits until the gateway recovers or its validity ends.
    case gateway
    /// The gateway failed on this message (an internal error). While other messages fail too, it counts as ``gateway``.
    /// A message that keeps getting it while others pass finally fails.
    case server
    /// A credential stored at the gateway, which only some messages need, is wrong. These messages wait, apart from all
    /// others, until it is corrected. The gateway, the application and the token are not to blame.
    case credential
    /// Unknown: no gateway gives such an answer, but a proxy, a load balancer or a web page in its place does. It
    /// counts as ``gateway``. A lone message that keeps getting it while others pass finally fails.
    case foreign
    /// The answer has the gateway's format but an unknown reason. If it is frequent while other messages pass, it holds
    /// back its delivery; a lone message finally fails.
    case unknown
    /// The application or its delivery: credential, topic, address. All messages wait until it is corrected.
    case application
    /// The message was written but not answered. The delivery's policy decides; each resend counts as an attempt.
    case ambiguous

    /// Whether a message keeps its attempts.
    package var sparesAttempt: Bool {
        switch self {
        case .gateway, .server, .credential, .foreign, .unknown, .application: true
        case .none, .message, .ambiguous: false
        }
    }

    /// Whether a message that keeps getting it while others pass finally fails, as the cause must be the message
    /// itself.
    package var isBounded: Bool {
        switch self {
        case .server, .foreign, .unknown: true
        case .none, .message, .gateway, .credential, .application, .ambiguous: false
        }
    }
}
