/// A provider authentication token whose signature was good.
struct ProviderToken: Sendable {
    /// Counts up with each different token; connections compare it.
    var number: Int
    var keyID: String
    /// When it was made, in seconds since 1970.
    var issuedAt: Int64

    /// APNs takes a token for an hour after `iat`.
    static let lifetimeSeconds: Int64 = 3600
}
