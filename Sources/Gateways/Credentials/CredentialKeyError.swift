/// The key for credentials is not there or cannot be used, on this host.
public struct CredentialKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with which file, and what to do.
    public let description: String

    /// Describes what is wrong.
    public init(_ description: String) {
        self.description = description
    }
}
