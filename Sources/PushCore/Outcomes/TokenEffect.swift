/// What an answer says about the push token that it was given for.
public enum TokenEffect: Sendable, Hashable {
    /// Nothing.
    case none
    /// The token is dead.
    ///
    /// `sinceMilliseconds` is the gateway's own time of the fact in milliseconds since 1970 (APNs' 410 gives one), so
    /// that a registration after it is not undone; nil when the gateway gave none.
    case invalid(sinceMilliseconds: Int64?)
}
