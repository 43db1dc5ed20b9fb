/// What gateways have reported about a subscription's push token.
package struct SubscriberQuarantine: Sendable, Hashable {
    /// The state of the token.
    package enum Status: Int32, Sendable {
        /// No errors.
        case valid = 0
        /// Some messages failed for transient reasons.
        case withErrors
        /// Nothing is sent to it.
        case quarantine
        /// Nothing is ever sent to it.
        case denylisted
    }

    /// The state of the token.
    package let status: Status
    /// The gateway's text.
    package let reason: String
    /// When it was quarantined.
    package let since: DatabaseTime?
    /// Soft errors since the last success or healing period.
    package let softErrors: Int32
    /// When the last soft error occurred.
    package let lastErrorAt: DatabaseTime?
    /// SHA-256 of the push token, in hexadecimal; "" if it has none any more.
    package let tokenHash: String
}
