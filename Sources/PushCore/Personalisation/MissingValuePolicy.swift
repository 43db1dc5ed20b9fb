/// What becomes of a message when a field that its text uses has no value: it is null or empty.
public enum MissingValuePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The default that stands at the place is used; where there is none, nothing.
    case `default`
    /// Nothing is put there, whatever default there is.
    case empty
    /// The message is not sent, unless a default stands at the place.
    case exclude
}
