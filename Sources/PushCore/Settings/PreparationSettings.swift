/// How a delivery's target is cut into parts.
public struct PreparationSettings: Sendable, Equatable {
    /// The number of messages in a part.
    public var messagesPerPart = 1_000
    /// The number of parts that one preparation transaction makes.
    public var partsPerChunk = 50

    /// Creates the settings with their defaults.
    public init() {}
}
