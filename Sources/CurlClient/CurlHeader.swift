package struct CurlHeader: Sendable, Equatable {
    /// The field's name, as written.
    package var name: String
    /// The field's value without surrounding white space.
    package var value: String

    /// Makes a field; performing a request refuses a line break in a name or value.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
