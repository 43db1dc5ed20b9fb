/// What happens to an ambiguous message, which may or may not have reached the gateway.
package enum AmbiguityPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Send it again with the same ids (at least once). The resend counts as an attempt.
    case resend
    /// Never send it again (at most once). It is recorded as ``MessageStatus/unknown``.
    case report
}
