import PushCore

/// What to change of an application; nil leaves a value as it is.
public struct ApplicationChange: Sendable {
    /// Its name for people.
    public var label: String?
    /// What the SDK registers with, unique.
    public var integrationKey: String?
    /// Bundle id (the APNs topic) or package name.
    public var bundleID: String?
    /// How `_mId` is written.
    public var messageIDFormat: MessageIDFormat?
    /// Name of the external account.
    public var account: String?
    /// All that it declares.
    public var declarations: ApplicationDeclarations?
    /// Its icon.
    public var icon: ApplicationIcon?
    /// Whether its icon is taken away.
    public var removesIcon = false

    /// Whether nothing is changed.
    public var isEmpty: Bool {
        label == nil && integrationKey == nil && bundleID == nil && messageIDFormat == nil && account == nil
            && declarations == nil && icon == nil && !removesIcon
    }

    /// No change.
    public init() {}
}
