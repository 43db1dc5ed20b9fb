/// Whether a message of a part can still be sent, by the state of its subscription at loading.
public enum LoadVerdict: Int16, Sendable, CaseIterable {
    /// Send it.
    case sendable = 0
    /// The subscription was disabled (a newer one took its token, or the gateway refused it).
    case disabled = 1
    /// The person opted out.
    case optedOut = 2
    /// The subscription is in quarantine or on the deny list.
    case quarantined = 3
    /// The subscription does not exist any more.
    case missing = 4

    /// The reason that a `not_applicable` outcome is stored with; empty when sendable.
    public var reason: String {
        switch self {
        case .sendable: ""
        case .disabled: "subscription_disabled"
        case .optedOut: "opted_out"
        case .quarantined: "quarantined"
        case .missing: "subscription_missing"
        }
    }
}
