/// What is wrong with a line of a subscription file, and what to do about it.
struct ImportFault: Error, Sendable {
    /// Contains neither the line's number nor its values.
    let text: String

    init(_ text: String) { self.text = text }
}
