/// Why the web process cannot start.
public struct WebServerError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Sendable, Hashable {
        /// A setting is wrong, or a file that it names.
        case setting
        /// An address or port cannot be listened on.
        case listening
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let description: String
}
