/// Whose a failed attempt is: what an answer, or its absence, says something about.
///
/// It decides whether the attempt counts against the message (`max_retries`), and who waits for whom.
public enum AnswerFault: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing failed.
    case none
    /// The message's or its token's: the attempt counts.
    case message
    /// The gateway's: it says nothing about the message, which keeps its attempts and waits until the gateway is well or its validity
    /// is over.
    case gateway
    /// Nobody's that is known: no gateway gives such an answer, but a proxy, a load balancer or a page in its place does. As the
    /// gateway's; a lone message that keeps getting it while others pass fails in the end.
    case foreign
    /// The gateway's own form with a reason that nobody knows. While others pass it holds its delivery when it comes often, and fails
    /// a lone message in the end.
    case unknown
    /// The application's, or its delivery's: credential, topic, address. All messages wait until it is put right.
    case application
    /// Written, and not answered: the delivery's policy decides, and each resend counts as an attempt.
    case ambiguous

    /// Whether a message keeps its attempts.
    public var sparesAttempt: Bool {
        switch self {
        case .gateway, .foreign, .unknown, .application: true
        case .none, .message, .ambiguous: false
        }
    }
}
