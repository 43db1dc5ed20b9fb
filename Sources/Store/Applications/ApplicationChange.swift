import Content
import PushCore

/// Changes of an application; nil leaves a value as it is.
package struct ApplicationChange: Sendable {
    /// The display name.
    package var label: String?
    /// The key with which the SDK registers, unique.
    package var integrationKey: String?
    /// Bundle id (the APNs topic) or package name.
    package var bundleID: String?
    /// How `_mId` is written.
    package var messageIDFormat: MessageIDFormat?
    /// Name of the external account.
    package var account: String?
    package var declarations: ApplicationDeclarations?
    package var icon: ApplicationIcon?
    /// Whether its icon is removed.
    package var removesIcon = false

    package var isEmpty: Bool {
        label == nil && integrationKey == nil && bundleID == nil && messageIDFormat == nil && account == nil
            && declarations == nil && icon == nil && !removesIcon
    }

    package init() {}
}
