/// What is wrong with a line of a subscription file and what to do about it.
struct ImportFault: Error, Sendable {
    /// Without the line's number and without its values.
    let text: String

    /// Describes a fault.
    init(_ text: String) { self.text = text }
}
