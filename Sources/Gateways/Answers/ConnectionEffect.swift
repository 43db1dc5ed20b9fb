/// What an answer means for the connection that it came on.
public enum ConnectionEffect: String, Sendable, Hashable, Codable {
    /// It stays in use.
    case keep
    /// It takes no more messages, and another one takes its place.
    case replace
}
