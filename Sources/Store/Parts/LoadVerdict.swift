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
    /// Send it, and say so if it gets through: the subscription has soft errors, which that heals.
    case sendableWithErrors = 10

    /// Whether it is sent.
    public var isSendable: Bool { self == .sendable || self == .sendableWithErrors }

    /// The verdict on a subscription `s`, by its generated `exclusion`, which does not tell errors apart.
    static let sql = """
        CASE WHEN s.quarantine_status = 1 AND s.exclusion = 0 THEN \(sendableWithErrors.rawValue)::smallint ELSE s.exclusion END
        """

    /// The reason that a `not_applicable` outcome is stored with; empty when sendable.
    public var reason: String {
        switch self {
        case .sendable, .sendableWithErrors: ""
        case .disabled: "subscription_disabled"
        case .optedOut: "opted_out"
        case .quarantined: "quarantined"
        case .missing: "subscription_missing"
        }
    }
}
