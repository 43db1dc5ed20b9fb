/// A delivery template: content and settings that deliveries start from.
public struct TemplateRow: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its name in commands and SQL, unique.
    public let name: String
    /// What it is for.
    public let label: String
    /// The content, a JSON object.
    public let content: String
    /// Settings of the delivery, a flat JSON object; what is absent is as `create_delivery` has it.
    public let settings: String
    /// Whether it came with the product: then it can be duplicated, and not replaced.
    public let isReadyMade: Bool
    /// When it was stored last.
    public let changedAt: DatabaseTime

    /// A delivery template.
    public init(
        id: Int32,
        name: String,
        label: String,
        content: String,
        settings: String,
        isReadyMade: Bool,
        changedAt: DatabaseTime
    ) {
        self.id = id
        self.name = name
        self.label = label
        self.content = content
        self.settings = settings
        self.isReadyMade = isReadyMade
        self.changedAt = changedAt
    }
}
