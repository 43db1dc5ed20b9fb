/// The key by which a subscriber is looked up.
package enum SubscriberKey: String, Sendable, CaseIterable {
    case userKey = "user_key"
    case subscription
    /// Its push token, which is not logged.
    case pushToken = "push_token"
}
