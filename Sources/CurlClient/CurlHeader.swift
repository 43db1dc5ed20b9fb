/// One HTTP header field.
public struct CurlHeader: Sendable, Equatable {
    /// The field's name as it is written.
    public var name: String
    /// The field's value without surrounding white space.
    public var value: String

    /// Makes a field; a line break in name or value is refused when the request is performed.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
