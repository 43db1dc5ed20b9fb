/// A subscription as the console shows it, without its push token.
package struct Subscriber: Sendable, Hashable {
    package let application: String
    /// The application's label.
    package let applicationLabel: String
    /// The service of the application.
    package let service: String
    package let platform: String
    /// `production` or `sandbox`.
    package let environment: String
    /// The user key, masked for users who may not see it; "" if unknown.
    package let userKey: String
    /// Whether the user key is masked.
    package let isMasked: Bool
    /// Whether a source other than the device has confirmed the user.
    package let isProven: Bool
    /// Language tag, "" if unknown.
    package let locale: String
    /// Time zone, "" if unknown.
    package let timeZone: String
    /// The app's version, "" if unknown.
    package let appVersion: String
    /// Model and operating system of the device, "" if unknown.
    package let device: String
    package let createdAt: DatabaseTime
    package let registeredAt: DatabaseTime
    /// Whether deliveries include it, unless something else excludes it.
    package let isEnabled: Bool
    /// Whether the person wants no messages.
    package let isOptedOut: Bool
    /// Why it is disabled, "" if it is not.
    package let disabledReason: String
    package let disabledAt: DatabaseTime?
    /// The state of its push token, and since when.
    package let quarantine: SubscriberQuarantine
    /// Other subscriptions of the same user, counted up to 100.
    package let others: Int
}
