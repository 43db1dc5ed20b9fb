/// What the model's gateway says to a message that it has processed.
public enum GatewayAnswer: Sendable, Hashable, CaseIterable {
    /// It was delivered to the device.
    case accepted
    /// It will never be.
    case permanent
    /// It was not delivered, and may be tried again later.
    case retry
    /// Nothing of the application is delivered for now, and nothing of it is said by that about the message.
    case stop
}
