import Foundation

/// What a registration says about the device.
public struct DeviceDescription: Sendable, Equatable, Codable {
    /// The device's name.
    public var name: String
    /// The device's kind, such as `iPhone`.
    public var model: String
    /// The system's name, such as `iOS`.
    public var systemName: String
    /// The system's version, such as `17.4`.
    public var systemVersion: String
    /// The language and region, with a hyphen: `en-US`.
    public var language: String

    /// Describes a device. An underscore in `language` becomes a hyphen, as the server expects it.
    public init(name: String, model: String, systemName: String, systemVersion: String, language: String) {
        self.name = name
        self.model = model
        self.systemName = systemName
        self.systemVersion = systemVersion
        self.language = language.replacingOccurrences(of: "_", with: "-")
    }
}
