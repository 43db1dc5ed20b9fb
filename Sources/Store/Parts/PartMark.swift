/// How far an owner may have sent a part: commit it before the window's first byte leaves.
public struct PartMark: Sendable, Hashable {
    /// The part and the owner's token.
    public let holding: PartToken
    /// Number of the part's messages, in sequence order, that may have left.
    public let through: Int32

    /// A mark of a held part.
    public init(part: Int64, token: Int64, through: Int32) {
        holding = PartToken(part: part, token: token)
        self.through = through
    }
}
