/// Whom a message goes to.
public enum MessageAddress: Sendable, Hashable {
    /// One subscription, by its id.
    case subscription(Int64)
    /// All subscriptions of a user in the delivery's applications, or the latest registered one if the delivery says so.
    case userKey(String)
    /// The subscription that has this push token now.
    case pushToken(String)
}
