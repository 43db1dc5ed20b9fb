/// One of the options of a field.
struct FormOption: Sendable {
    /// The value that is sent.
    let value: String
    /// The name that is shown.
    let name: String

    init(_ value: String, _ name: String) {
        self.value = value
        self.name = name
    }
}
