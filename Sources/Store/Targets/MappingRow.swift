/// A target mapping as it is registered, whether its view can be read or not.
public struct MappingRow: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its name, unique.
    public let name: String
    /// Its name for people.
    public let label: String
    /// The view with its schema.
    public let view: String
    /// The column that holds the user keys.
    public let keyColumn: String

    /// A mapping.
    public init(id: Int32, name: String, label: String, view: String, keyColumn: String) {
        self.id = id
        self.name = name
        self.label = label
        self.view = view
        self.keyColumn = keyColumn
    }
}
