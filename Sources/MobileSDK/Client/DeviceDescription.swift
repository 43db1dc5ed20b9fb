import Foundation

#if canImport(UIKit) && !os(watchOS)
import UIKit
#endif

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
    /// The time zone, such as `Europe/Paris`; nil if it is not sent. It tells where a person is, so it is personal data.
    public var timeZone: String?

    /// Describes a device. An underscore in `language` becomes a hyphen, as the server expects it.
    public init(
        name: String,
        model: String,
        systemName: String,
        systemVersion: String,
        language: String,
        timeZone: String? = nil
    ) {
        self.name = name
        self.model = model
        self.systemName = systemName
        self.systemVersion = systemVersion
        self.language = language.replacingOccurrences(of: "_", with: "-")
        self.timeZone = timeZone
    }
}

extension DeviceDescription {
    /// Describes the device that the program runs on.
    public static func current() async -> DeviceDescription {
        #if canImport(UIKit) && !os(watchOS)
        // UIDevice may be used on the main actor only.
        return await MainActor.run {
            let device = UIDevice.current
            return DeviceDescription(
                name: device.name,
                model: device.model,
                systemName: device.systemName,
                systemVersion: device.systemVersion,
                language: Locale.current.identifier
            )
        }
        #else
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return DeviceDescription(
            name: ProcessInfo.processInfo.hostName,
            model: "computer",
            systemName: systemName,
            systemVersion: "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)",
            language: Locale.current.identifier
        )
        #endif
    }

    #if os(Linux)
    private static let systemName = "Linux"
    #elseif os(macOS)
    private static let systemName = "macOS"
    #else
    private static let systemName = "unknown"
    #endif
}
