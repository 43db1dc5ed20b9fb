package struct SupervisorError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Equatable {
        /// Another supervisor owns the folder.
        case folderInUse
        /// The folder, or a file in it, cannot be created, read or written.
        case folderNotUsable
        /// A setting has an unusable value.
        case setting
    }

    package let code: Code
    /// What happened, to which thing, why, and what to do.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What happened, to which thing, why, and what to do.
    package var description: String { message }
}
