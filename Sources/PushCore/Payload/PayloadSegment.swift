/// A piece of a payload template.
enum PayloadSegment: Sendable, Hashable {
    /// Bytes of the template's own text, by their place.
    case literal(Range<Int>)
    case field(FieldSegment)
    /// The message's `_mId`.
    case messageID
    /// The push token.
    case token
    /// A text with sections, by its index.
    case sections(Int)
    /// An entry whose value has a certain form, by its index.
    case checked(Int)
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

/// A place in a payload where a text with sections stands.
struct SectionSegment: Sendable, Hashable {
    let text: SectionText
    /// The column of each of the text's names.
    let columns: [Int]
    let escapes: Int
    let isCounted: Bool
}

/// A place in a payload where an entry stands if its value comes out in the form that the gateway takes.
struct CheckedSegment: Sendable, Hashable {
    /// The pieces that make the value.
    let segments: [PayloadSegment]
    let form: CheckedTemplate.Form
    /// The entry's name, its colon and what stands before the value.
    let prefix: [UInt8]
    let suffix: [UInt8]
    /// The bytes of the name where they count against the gateway's limit; nil where the entry does not count.
    let countedBytes: Int?
}
