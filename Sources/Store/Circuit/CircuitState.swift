/// Whether an application's messages are sent.
public enum CircuitState: String, Sendable, Hashable, Codable, CaseIterable {
    /// They are.
    case closed
    /// Every message would fail: nothing is claimed until the next probe.
    case open
    /// A child sends single messages to find out whether it is over.
    case probing
}
