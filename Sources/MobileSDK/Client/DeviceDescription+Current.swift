import Foundation

#if canImport(UIKit) && !os(watchOS)
import UIKit
#endif

extension DeviceDescription {
    /// Describes the device that the program runs on.
    public static func current() async -> DeviceDescription {
        #if canImport(UIKit) && !os(watchOS)
        // UIDevice may be asked on the main actor only.
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
