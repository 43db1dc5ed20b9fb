/// Why a tracking spool cannot be used.
public struct SpoolError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Sendable, Hashable {
        /// The folder or a file in it cannot be written.
        case notWritable
        /// All the room that it may take is taken.
        case full
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let description: String
}
