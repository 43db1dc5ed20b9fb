/// Why message ids could not be made.
public struct MessageIDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Sendable, Hashable {
        /// The tracking key does not have 16 bytes; the number it has.
        case trackingKeyLength(Int)
        /// The key of numbered message ids does not have 16 bytes; the number it has.
        case numberKeyLength(Int)
    }

    /// What went wrong.
    public let code: Code

    /// What went wrong, and what to do.
    public var description: String {
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
