/// What an answer says about the push token that it was given for.
package enum TokenEffect: Sendable, Hashable {
    case none
    /// The token is dead.
    ///
    /// `sinceMilliseconds` is the gateway's time of this fact, in milliseconds since 1970 (APNs' 410 gives one), so
    /// that a later registration is not undone. It is nil if the gateway gave none.
    case invalid(sinceMilliseconds: Int64?)
    /// The gateway accepted the token and names the one to use instead (the canonical id of FCM legacy).
    case replaced(by: String)
    /// It counts as a soft error of the token once the message is given up. Several soft errors, days apart, put the
    /// token into quarantine.
    case softError

    /// Reasons that gateways give only for a token that they have known as one of this application. No mix-up of keys
    /// or environments causes them.
    package static let certainReasons: Set<String> = ["UNREGISTERED", "NotRegistered", "Unregistered", "ExpiredToken"]

    /// A gateway's time of a fact, in milliseconds since 1970; nil if it lies before 1970 or after the year 9999.
    ///
    /// Such a time is meaningless; it may have the wrong unit, for example. A time that the database cannot represent
    /// would also make the transaction that stores it fail, on every attempt.
    package static func credibleTime(_ milliseconds: Int64?) -> Int64? {
        milliseconds.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
    }
}
