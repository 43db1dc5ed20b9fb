/// How far an owner may have sent a part: commit it before the window's first byte is sent.
package struct PartMark: Sendable, Hashable {
    /// The part and the owner's token.
    package let claim: PartToken
    /// Number of the part's messages, in sequence order, that may have been sent.
    package let through: Int32

    /// A mark of a held part.
    package init(part: Int64, token: Int64, through: Int32) {
        claim = PartToken(part: part, token: token)
        self.through = through
    }
}
