extension JSONValue {
    /// Reads a JSON text (RFC 8259); nesting deeper than 64 is refused, so that no text exhausts the stack.
    public init(parsing text: some Collection<UInt8>) throws(JSONSyntaxError) {
        self = try JSONParser.parse(text)
    }

    /// Its JSON text without spaces.
    public var compactText: String { JSONText.compact(self) }
}
