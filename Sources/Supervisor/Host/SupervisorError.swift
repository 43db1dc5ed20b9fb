/// A supervisor cannot start.
public struct SupervisorError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: Sendable, Equatable {
        /// Another supervisor owns the folder.
        case folderInUse
        /// The folder or a file in it cannot be created, read or written.
        case folderNotUsable
        /// A setting has a value that cannot be used.
        case setting
    }

    /// What went wrong.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What happened, to which thing, why, and what to do.
    public var description: String { message }
}
