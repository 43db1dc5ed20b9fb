/// A delivery template: content, settings and target that deliveries start from.
package struct TemplateRow: Sendable, Hashable {
    package let id: Int32
    /// Its name in commands and SQL, unique.
    package let name: String
    /// What it is for.
    package let label: String
    /// The content, a JSON object.
    package let content: String
    /// Settings of the delivery, a flat JSON object; absent ones have the defaults of `create_delivery`.
    package let settings: String
    /// The target of its deliveries.
    package let target: TemplateTarget
    /// Names of the services of its applications.
    package let services: [String]
    /// Whether it came with the product: it can be duplicated, but not replaced.
    package let isReadyMade: Bool
    /// When it was last saved.
    package let changedAt: DatabaseTime
}
