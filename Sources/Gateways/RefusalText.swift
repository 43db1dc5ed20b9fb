/// A gateway's explanation of the final refusal of a message.
package struct RefusalText: Sendable, Hashable {
    package let deliveryID: Int64
    /// The gateway's reason.
    package let reason: String
    /// The explanation. Quoted parts are left out, as they may be values of the message.
    package let words: String

    /// Makes the explanation from an answer's text.
    package init(deliveryID: Int64, reason: String, words: String) {
        self.deliveryID = deliveryID
        self.reason = reason
        self.words = Self.withoutQuotes(words)
    }

    /// The text with an ellipsis in place of quoted parts.
    static func withoutQuotes(_ text: String) -> String {
        let pieces = text.split(separator: "\"", omittingEmptySubsequences: false)
        guard pieces.count > 1 else { return text }
        // An opening mark without a closing one: the quote was cut off.
        return pieces.indices.map { $0.isMultiple(of: 2) ? String(pieces[$0]) : "\"…\"" }.joined()
    }
}
