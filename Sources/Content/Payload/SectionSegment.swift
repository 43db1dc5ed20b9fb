/// The place of a text with sections in a payload.
struct SectionSegment: Sendable, Hashable {
    let text: SectionText
    /// The column of each of the text's names.
    let columns: [Int]
    /// The place of each name that is a path; nil for the others.
    let places: [FieldPlace?]
    let escapes: Int
    let isCounted: Bool
}
