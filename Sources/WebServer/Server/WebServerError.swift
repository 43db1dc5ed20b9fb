/// Why the web process cannot start.
package struct WebServerError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// A setting or a file that it names is invalid.
        case setting
        /// The process cannot listen on an address or port.
        case listening
    }

    /// The kind of failure.
    package let code: Code
    /// What happened, to which thing, why, and what to do.
    package let description: String
}
