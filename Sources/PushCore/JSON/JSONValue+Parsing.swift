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
