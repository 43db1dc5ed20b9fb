// What the samples use of Apple's UIKit, declared in our own words: nothing here does anything. An outlet wants a class of Objective-C.

@_exported import Foundation

@objc @MainActor open class UIResponder: NSObject {
    public nonisolated override init() {}
}

@objc @MainActor open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: Hashable, Sendable {}

    open func registerForRemoteNotifications() {}
}

public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData, noData, failed
}

@MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func applicationWillEnterForeground(_ application: UIApplication)
    func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    )
    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    )
}

extension UIApplicationDelegate {
    public static func main() {}
}

@objc @MainActor open class UIViewController: UIResponder {}

open class UIImage: NSObject {
    public convenience init?(data: Data) { self.init() }
}

@objc @MainActor open class UIView: UIResponder {}

@objc @MainActor open class UILabel: UIView {
    open var text: String?
}

@objc @MainActor open class UIImageView: UIView {
    open var image: UIImage?
}
