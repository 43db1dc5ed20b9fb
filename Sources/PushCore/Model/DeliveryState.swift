/// The states of a delivery:
/// `editing → (analysing → ready) → pending → preparing → in_progress ⇄ paused → finished | stopped`.
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

    /// Whether a delivery never leaves this state.
    package var isFinal: Bool {
        switch self {
        case .finished, .stopped: true
        case .editing, .analysing, .ready, .pending, .preparing, .inProgress, .paused: false
        }
    }
}
