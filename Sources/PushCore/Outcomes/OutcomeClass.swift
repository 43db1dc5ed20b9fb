/// What an answer of a gateway, or its absence, means for the message.
package enum OutcomeClass: String, Sendable, Hashable, Codable, CaseIterable {
    /// The gateway never processed it: send it again without counting an attempt.
    case unprocessed
    /// The gateway accepted it.
    case accepted
    /// The gateway will never accept it.
    case permanent
    /// The gateway may accept it later.
    case retry
    /// Every message of the application would be refused: keep it pending and open the circuit.
    case stopApplication = "stop_application"
    /// Every message of the delivery would be refused, but no other: keep it pending and hold back the delivery.
    case stopDelivery = "stop_delivery"
    /// It was written and no answer came: the gateway may have accepted it.
    case ambiguous

    /// The fault of an outcome of this class, unless its answer says otherwise.
    package var usualFault: AnswerFault {
        switch self {
        case .accepted: .none
        case .permanent: .message
        case .retry, .unprocessed: .gateway
        case .stopApplication, .stopDelivery: .application
        case .ambiguous: .ambiguous
        }
    }
}
