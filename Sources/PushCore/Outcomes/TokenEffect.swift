/// What an answer says about the push token that it was given for.
public enum TokenEffect: Sendable, Hashable {
    /// Nothing.
    case none
    /// The token is dead.
    ///
    /// `sinceMilliseconds` is the gateway's own time of the fact in milliseconds since 1970 (APNs' 410 gives one), so
    /// that a registration after it is not undone; nil when the gateway gave none.
    case invalid(sinceMilliseconds: Int64?)
    /// The token was taken, and the gateway names the one that it wants instead (FCM legacy's canonical id).
    case replaced(by: String)
    /// It counts as a soft error of the token, once the message is given up; several of them, days apart, quarantine the token.
    case softError

    /// What gateways say only of a token that they have known as one of this application: no mix-up of keys or environments causes it.
    public static let certainReasons: Set<String> = ["UNREGISTERED", "NotRegistered", "Unregistered", "ExpiredToken"]

    /// A gateway's time of a fact, in milliseconds since 1970, or nil if it lies before 1970 or after the year 9999.
    ///
    /// Such a time says nothing, a wrong unit for example; and one that the database cannot represent would keep everything that is
    /// stored with it from being stored, each time anew.
    public static func credibleTime(_ milliseconds: Int64?) -> Int64? {
        milliseconds.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
    }
}
