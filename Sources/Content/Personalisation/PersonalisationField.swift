/// A field that a content uses as `{{name}}` or `{{name|default}}`.
package struct PersonalisationField: Sendable, Hashable {
    package let name: String
    /// The default of its first use; nil if that has none. Each use applies its own default.
    package let defaultValue: String?

    package init(name: String, defaultValue: String? = nil) {
        self.name = name
        self.defaultValue = defaultValue
    }
}
