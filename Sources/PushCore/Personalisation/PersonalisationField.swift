/// A field that a content uses as `{{name}}` or `{{name|default}}`.
public struct PersonalisationField: Sendable, Hashable {
    /// The field's name.
    public let name: String
    /// The default that its first use gives; nil when it gives none. Each use obeys its own default.
    public let defaultValue: String?

    /// Makes a field.
    public init(name: String, defaultValue: String? = nil) {
        self.name = name
        self.defaultValue = defaultValue
    }
}
