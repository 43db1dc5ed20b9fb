/// What a delivery wants done with a message that may or may not have reached the gateway.
public enum AmbiguityPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Send it again under the same ids (at least once). It counts as an attempt.
    case resend
    /// Never send it again (at most once): it is recorded as ``MessageStatus/unknown``.
    case report
}
