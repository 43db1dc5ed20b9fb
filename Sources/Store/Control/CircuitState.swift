/// Whether an application's messages are sent.
package enum CircuitState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Messages are sent.
    case closed
    /// Every message would fail: nothing is claimed until the next probe.
    case open
    /// A child sends single messages to find out whether the cause is gone.
    case probing
}
