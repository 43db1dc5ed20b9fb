/// A JSON value that comes out as it went in: numbers keep their digits and objects the order of their entries.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number, as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONEntry])

    /// What kind of value it is, for messages to people.
    public var kindName: String {
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

/// One entry of a JSON object.
public struct JSONEntry: Sendable, Hashable {
    public var name: String
    public var value: JSONValue

    public init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// Reads a JSON text (RFC 8259); nesting deeper than 64 is refused, so that no text exhausts the stack.
    ///
    /// - Parameter refusesHalfPairs: whether half a surrogate pair is an error; else it becomes U+FFFD, and texts that differ in
    ///   nothing else become one.
    public init(
        parsing text: some Collection<UInt8>,
        refusesHalfPairs: Bool = false
    ) throws(JSONSyntaxError) {
        self = try JSONParser.parse(text, halfPair: refusesHalfPairs ? nil : "\u{FFFD}")
    }

    /// Its JSON text without spaces.
    public var compactText: String { JSONText.compact(self) }
}
