/// A JSON value that round-trips: numbers keep their digits, and objects keep the order of their entries.
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number, verbatim.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONEntry])

    /// The kind of value, for messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// Parses a JSON text (RFC 8259). Nesting deeper than 64 is refused, so that no text exhausts the stack.
    ///
    /// - Parameter refusesHalfPairs: whether half a surrogate pair is an error. Otherwise it becomes U+FFFD, and texts
    ///   that differ only there become equal.
    package init(
        parsing text: some Collection<UInt8>,
        refusesHalfPairs: Bool = false
    ) throws(JSONSyntaxError) {
        self = try JSONParser.parse(text, halfPair: refusesHalfPairs ? nil : "\u{FFFD}")
    }

    /// The value's JSON text without spaces.
    package var compactText: String { JSONText.compact(self) }
}
