/// Why message ids cannot be made.
package struct MessageIDError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The tracking key is not 16 bytes long but has this length.
        case trackingKeyLength(Int)
        /// The key of numeric message ids is not 16 bytes long but has this length.
        case numberKeyLength(Int)
    }

    package let code: Code

    /// What went wrong, and what to do.
    package var description: String {
        switch code {
        case .trackingKeyLength(let count):
            """
            The delivery's tracking key has \(count) bytes instead of \(MessageIDCodec.keyLength), so no message ids can \
            be made from it; run `pushmta doctor`, and start the delivery again as a copy.
            """
        case .numberKeyLength(let count):
            "The key of int32 message ids has \(count) bytes instead of \(MessageIDCodec.keyLength); run `pushmta migrate`."
        }
    }
}
