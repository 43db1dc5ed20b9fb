/// What was said about a token.
public enum TokenEventKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is dead.
    case invalid
    /// The gateway wants another one instead.
    case canonical
    /// The person wants no messages.
    case optOut = "opt_out"
    /// A message to it failed for a reason that may pass.
    case softError = "soft_error"
    /// A message got through to it after soft errors.
    case success
}
