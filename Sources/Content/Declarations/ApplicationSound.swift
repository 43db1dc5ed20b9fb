import PushCore

/// A sound that an application can play: a file in its bundle, or one of the system's.
public struct ApplicationSound: Sendable, Hashable, Codable {
    /// The file's name in the bundle, or the name of the system's sound: what stands in the payload.
    public let name: String
    /// The name people see.
    public let label: String
    /// Whether it is the system's and not a file of the application.
    public let isSystem: Bool

    private enum CodingKeys: String, CodingKey {
        case name, label
        case isSystem = "system"
    }

    /// A sound as the database keeps it: label and kind may be absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        label = try container.decodeIfPresent(String.self, forKey: .label) ?? ""
        isSystem = try container.decodeIfPresent(Bool.self, forKey: .isSystem) ?? false
    }

    /// A sound; throws if nothing can have that name.
    public init(name: String, label: String = "", isSystem: Bool = false) throws(DeclarationError) {
        guard !name.isEmpty, name.utf8.count <= Self.maximumNameBytes, !name.contains("/"),
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

    /// A name of a file has at most 255 bytes.
    private static let maximumNameBytes = 255
}
