/// What was given as the host of a gateway is none.
public struct GatewayHostError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it and what to give instead, without a name for it before.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
