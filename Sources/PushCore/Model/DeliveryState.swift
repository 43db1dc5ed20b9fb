/// The states of a delivery:
/// `editing → (analysing → ready) → pending → preparing → in_progress ⇄ paused → finished | stopped`, and
/// `recalled` from any state after its start.
package enum DeliveryState: String, Sendable, Hashable, Codable, CaseIterable {
    case editing
    /// Its messages are prepared and held, and a sample is rendered.
    case analysing
    /// Its messages are held until it is started.
    case ready
    /// It waits for its start.
    case pending
    case preparing
    case inProgress = "in_progress"
    case paused
    case finished
    case stopped
    /// What had not left was stopped, and what was sent may be replaced or removed.
    case recalled

    /// Whether nothing more of a delivery is sent once it is in this state.
    package var isFinal: Bool {
        switch self {
        case .finished, .stopped, .recalled: true
        case .editing, .analysing, .ready, .pending, .preparing, .inProgress, .paused: false
        }
    }
}
