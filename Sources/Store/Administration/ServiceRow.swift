/// A mobile application service: what marketing calls "the app", with its applications per platform.
public struct ServiceRow: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its name in settings and commands, unique.
    public let name: String
    /// Its name for people.
    public let label: String
    /// Name of the target mapping with which its user keys reconcile; nil if it has none.
    public let mapping: String?

    /// A service.
    public init(id: Int32, name: String, label: String, mapping: String? = nil) {
        self.id = id
        self.name = name
        self.label = label
        self.mapping = mapping
    }
}
