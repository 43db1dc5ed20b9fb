/// A piece of a payload template.
enum PayloadSegment: Sendable, Hashable {
    /// A range of the template's own text.
    case literal(Range<Int>)
    case field(FieldSegment)
    /// The message's `_mId`.
    case messageID
    /// The push token.
    case token
    /// A text with sections, by its index.
    case sections(Int)
    /// An entry whose value must have a certain form, by its index.
    case checked(Int)
    /// A value inside an object, by its index.
    case path(Int)
    /// An entry with the remaining validity of the message: the text before the digits, and the text after them.
    case validity(Range<Int>, Range<Int>)
}

/// The place of a field's value in a payload.
struct FieldSegment: Sendable, Hashable {
    /// The index of the field's column.
    let column: Int
    /// The range of the default in the template's own text, not escaped. It is used if the value is null or blank.
    let fallback: Range<Int>
    /// How often the value is escaped: once in a JSON string, twice in JSON text inside a JSON string, never in a
    /// header.
    let escapes: Int
    /// Whether the value counts against the gateway's limit, if the limit does not cover the whole body.
    let isCounted: Bool
}

/// The place of a value inside an object in a payload.
struct PathSegment: Sendable, Hashable {
    /// The field of the whole name, which takes precedence, with the default.
    let field: FieldSegment
    let place: FieldPlace
}

/// The place of an entry that is written only if its value has the form that the gateway accepts.
struct CheckedSegment: Sendable, Hashable {
    /// The pieces of the value.
    let segments: [PayloadSegment]
    let form: CheckedTemplate.Form
    /// The entry's name, its colon and the text before the value.
    let prefix: [UInt8]
    let suffix: [UInt8]
    /// Whether it is an entry of an object. With a value of another form an entry is left out; an element of a list is
    /// null instead.
    let isEntry: Bool
    /// The size of the name, if the entry counts against the gateway's limit; nil if it does not.
    let countedBytes: Int?
}
