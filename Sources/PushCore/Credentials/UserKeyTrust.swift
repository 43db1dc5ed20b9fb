/// Who decides which user a device belongs to; a setting of a service.
package enum UserKeyTrust: String, Sendable, Hashable, CaseIterable {
    /// The device. Any client with the app's integration key can register as any user.
    case open
    /// The device, with a token that the customer's backend has signed for its user; see ``UserKeyProof``.
    case signed
    /// Only the API and imports. The user key that a device sends is ignored.
    case server
}
