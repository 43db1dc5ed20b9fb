// What the samples use of Apple's UserNotifications, declared in our own words: nothing here does anything.
//
// Classes are not Sendable, so that what passes them between threads has to say why it may.

@_exported import Foundation
// On Apple's systems it is a part of Foundation.
@_exported import FoundationNetworking

open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
    open var title: String { "" }
    open var body: String { "" }
    open var userInfo: [AnyHashable: Any] { [:] }
    open var attachments: [UNNotificationAttachment] { [] }

    public func copy(with zone: NSZone?) -> Any { self }
    public func mutableCopy(with zone: NSZone?) -> Any { UNMutableNotificationContent() }
}

open class UNMutableNotificationContent: UNNotificationContent {
    open override var attachments: [UNNotificationAttachment] {
        get { [] }
        set {}
    }
}

open class UNNotificationAttachment: NSObject {
    open var url: URL { URL(fileURLWithPath: "/") }

    public convenience init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws { self.init() }
}

open class UNNotificationRequest: NSObject {
    open var identifier: String { "" }
    open var content: UNNotificationContent { UNNotificationContent() }
}

open class UNNotification: NSObject {
    open var request: UNNotificationRequest { UNNotificationRequest() }
}

// The name is Apple's.
// swift-format-ignore: AlwaysUseLowerCamelCase
public let UNNotificationDismissActionIdentifier = "dismiss"

open class UNNotificationResponse: NSObject {
    open var notification: UNNotification { UNNotification() }
    open var actionIdentifier: String { "" }
}

open class UNNotificationServiceExtension: NSObject {
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}
    open func serviceExtensionTimeWillExpire() {}
}

public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let badge = UNAuthorizationOptions(rawValue: 1)
    public static let sound = UNAuthorizationOptions(rawValue: 2)
    public static let alert = UNAuthorizationOptions(rawValue: 4)
}

open class UNUserNotificationCenter: NSObject {
    open class func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
    open weak var delegate: (any UNUserNotificationCenterDelegate)?

    open func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {}
    open func deliveredNotifications() async -> [UNNotification] { [] }
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}
}

public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    )
}

extension URL {
    public func startAccessingSecurityScopedResource() -> Bool { true }
    public func stopAccessingSecurityScopedResource() {}
}
