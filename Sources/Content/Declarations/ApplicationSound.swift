import PushCore

/// A sound that an application can play: a file in its bundle, or a system sound.
package struct ApplicationSound: Sendable, Hashable, Codable {
    /// The name in the payload: the file's name in the bundle, or the name of the system sound.
    package let name: String
    /// The display name.
    package let label: String
    /// Whether it is a system sound, not a file of the application.
    package let isSystem: Bool

    private enum CodingKeys: String, CodingKey {
        case name, label
        case isSystem = "system"
    }

    /// Decodes a sound as stored in the database: label and kind may be absent.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        label = try container.decodeIfPresent(String.self, forKey: .label) ?? ""
        isSystem = try container.decodeIfPresent(Bool.self, forKey: .isSystem) ?? false
    }

    /// Creates a sound; throws if no file can have that name.
    package init(name: String, label: String = "", isSystem: Bool = false) throws(DeclarationError) {
        guard !name.isEmpty, name.utf8.count <= Self.maxNameBytes, !name.contains("/"),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw DeclarationError(
                "sound \"\(name.prefix(80))\"",
                "no file of an application has such a name",
                "give the file's name in the bundle without a folder, such as chime.caf"
            )
        }
        self.name = name
        self.label = label
        self.isSystem = isSystem
    }

    /// The longest file name of common file systems.
    private static let maxNameBytes = 255
}
