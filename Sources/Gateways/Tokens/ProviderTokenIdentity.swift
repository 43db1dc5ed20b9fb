/// What makes two APNs keys the same key.
struct ProviderTokenIdentity: Sendable, Hashable {
    var keyID: String
    var teamID: String
    var publicKey: [UInt8]
}
