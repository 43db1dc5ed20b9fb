/// How far the user key of a registration is trusted.
package enum UserKeyClaim: String, Sendable, Hashable {
    /// The service trusts the device.
    case open
    /// A source that the service trusts has confirmed it.
    case proven
    /// The service requires a proof, and there is none. The key counts only if the token's subscription already has it.
    case unproven
    /// The service ignores user keys from devices. The token's subscription keeps the key that it has.
    case server
    /// The registration has no key. The token's subscription keeps its key, or the one it had when it was disabled.
    case kept
}
