/// The addressee of a message, or an entry of a list: the name of one or more subscriptions.
package enum Addressee: Sendable, Hashable {
    /// One subscription, by its id.
    case subscription(Int64)
    /// A user, by key: all of their subscriptions, or the one that registered last where only one can be meant.
    case userKey(String)
    /// The subscription that now has this push token; a seed address may have a token of no subscriber.
    case pushToken(String)

    /// Nil unless exactly one of them is given.
    package init?(subscription: Int64?, userKey: String?, pushToken: String?) {
        switch (subscription, userKey, pushToken) {
        case (let id?, nil, nil): self = .subscription(id)
        case (nil, let key?, nil): self = .userKey(key)
        case (nil, nil, let token?): self = .pushToken(token)
        default: return nil
        }
    }
}

extension Addressee {
    var subscriptionID: Int64? { if case .subscription(let id) = self { id } else { nil } }
    var userKey: String? { if case .userKey(let key) = self { key } else { nil } }
    var pushToken: String? { if case .pushToken(let token) = self { token } else { nil } }
}
