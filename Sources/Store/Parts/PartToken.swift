/// A part together with the fencing token under which its owner holds it.
package struct PartToken: Sendable, Hashable, Comparable {
    package let part: Int64
    /// The token from the claim.
    package let token: Int64

    /// A part under a token.
    package init(part: Int64, token: Int64) {
        self.part = part
        self.token = token
    }

    /// By part, then by token.
    package static func < (left: Self, right: Self) -> Bool { (left.part, left.token) < (right.part, right.token) }
}
