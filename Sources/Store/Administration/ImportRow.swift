/// A subscription to import, read from one line of a file.
public struct ImportRow: Sendable {
    /// Line number in the file, for reports.
    public var line: Int
    /// The push token.
    public var pushToken: String
    /// Whose it is; "" if unknown.
    public var userKey: String
    /// Language tag, "" if unknown.
    public var locale: String
    /// IANA time zone, "" if unknown.
    public var timeZone: String
    /// Fields of the recipient, for personalisation.
    public var recipient: [String: String]
    /// Parameters of the subscription.
    public var parameters: [String: String]

    /// A subscription of a line.
    public init(
        line: Int,
        pushToken: String,
        userKey: String = "",
        locale: String = "",
        timeZone: String = "",
        recipient: [String: String] = [:],
        parameters: [String: String] = [:]
    ) {
        self.line = line
        self.pushToken = pushToken
        self.userKey = userKey
        self.locale = locale
        self.timeZone = timeZone
        self.recipient = recipient
        self.parameters = parameters
    }
}
