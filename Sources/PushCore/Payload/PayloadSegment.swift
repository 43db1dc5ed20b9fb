/// A piece of a payload template.
enum PayloadSegment: Sendable, Hashable {
    /// Bytes of the template's own text, by their place.
    case literal(Range<Int>)
    case field(FieldSegment)
    /// The message's `_mId`.
    case messageID
    /// The push token.
    case token
}

/// A place in a payload where a field's value stands.
struct FieldSegment: Sendable, Hashable {
    /// The index of the field's column.
    let column: Int
    /// Where the default stands in the template's own text; used when the value is null or empty. It is not escaped.
    let fallback: Range<Int>
    /// How often the value is escaped: once in a JSON string, twice in a JSON text inside of a JSON string, never in a
    /// header.
    let escapes: Int
    /// Whether the value counts against the gateway's limit, when not the whole body does.
    let isCounted: Bool
}
