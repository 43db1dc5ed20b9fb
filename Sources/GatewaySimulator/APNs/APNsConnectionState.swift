/// What APNs remembers of one connection.
struct APNsConnectionState {
    /// The number of the provider token in use; 0 before the first.
    var tokenNumber = 0
    /// When the connection's token changed last, in seconds since 1970.
    var tokenSince: Int64 = 0
    /// The sender's certificate; nil when it authenticates with tokens.
    var certificate: APNsSenderCertificate?
    /// A push was accepted since the connection was opened, or since the last rejection if rejections count.
    var isTrusted = false

    /// A connection may use a new token once in 20 minutes.
    static let tokenChangeSeconds: Int64 = 20 * 60

    /// Notes the token of a push; false when it changes too often.
    mutating func use(_ token: ProviderToken, now: Int64) -> Bool {
        if token.number == tokenNumber { return true }
        if tokenNumber != 0, now - tokenSince < Self.tokenChangeSeconds { return false }
        tokenNumber = token.number
        tokenSince = now
        return true
    }
}
