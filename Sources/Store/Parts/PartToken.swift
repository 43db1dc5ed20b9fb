/// A part together with the fencing token under which its owner holds it.
public struct PartToken: Sendable, Hashable {
    /// The part.
    public let part: Int64
    /// The token that the claim gave.
    public let token: Int64

    /// A part under a token.
    public init(part: Int64, token: Int64) {
        self.part = part
        self.token = token
    }
}
