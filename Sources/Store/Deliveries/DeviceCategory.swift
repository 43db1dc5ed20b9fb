/// A category of a device's service, and whether its person wants it.
package struct DeviceCategory: Sendable, Hashable {
    package let name: String
    /// Its name for people.
    package let label: String
    /// Whether nobody can opt out of it alone.
    package let isTransactional: Bool
    /// When the person opted out of it; nil if they did not.
    package let optedOutSince: DatabaseTime?
    /// Who said so: `app`, `device`, `user` or `kept`; "" for nobody.
    package let source: String
}
