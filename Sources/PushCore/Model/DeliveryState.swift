/// The states of a delivery: `editing → pending → preparing → in_progress ⇄ paused → finished | failed | stopped`.
package enum DeliveryState: String, Sendable, Hashable, Codable, CaseIterable {
    case editing
    case pending
    case preparing
    case inProgress = "in_progress"
    case paused
    case finished
    case failed
    case stopped

    /// Whether a delivery never leaves this state.
    package var isFinal: Bool {
        switch self {
        case .finished, .failed, .stopped: true
        case .editing, .pending, .preparing, .inProgress, .paused: false
        }
    }
}
