/// A token that the feedback service has found dead.
public struct APNsFeedbackEntry: Sendable, Hashable {
    /// The token in lower-case hexadecimal digits.
    public var token: String
    /// When the gateway found that the app is gone, in seconds since 1970; a registration since then stands.
    public var since: Int64

    /// Makes an entry.
    public init(token: String, since: Int64) {
        self.token = token
        self.since = since
    }
}
