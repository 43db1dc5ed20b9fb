/// What an answer of a gateway, or its absence, means for the message.
public enum OutcomeClass: String, Sendable, Hashable, Codable, CaseIterable {
    /// The gateway never processed it: send it again for free.
    case unprocessed
    /// The gateway took it.
    case accepted
    /// It will never be taken.
    case permanent
    /// It may be taken later.
    case retry
    /// Every message of the application would be refused: keep it pending and open the circuit.
    case stopApplication = "stop_application"
    /// Every message of the delivery would be refused, and no other one: keep it pending and hold the delivery back.
    case stopDelivery = "stop_delivery"
    /// It was written and no answer came: it may have been taken.
    case ambiguous

    /// Whose failure an outcome of this class is, where its answer says nothing else.
    public var usualFault: AnswerFault {
        switch self {
        case .accepted: .none
        case .permanent: .message
        case .retry, .unprocessed: .gateway
        case .stopApplication, .stopDelivery: .application
        case .ambiguous: .ambiguous
        }
    }
}
