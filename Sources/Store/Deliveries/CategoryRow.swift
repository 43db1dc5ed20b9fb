/// A category of deliveries: what they are about.
package struct CategoryRow: Sendable, Hashable {
    /// The name of the service that it belongs to.
    package let service: String
    package let name: String
    /// Its name for people.
    package let label: String
    /// Whether nobody can opt out of it alone.
    package let isTransactional: Bool

    package init(service: String, name: String, label: String, isTransactional: Bool) {
        self.service = service
        self.name = name
        self.label = label
        self.isTransactional = isTransactional
    }
}
