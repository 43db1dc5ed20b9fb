/// A credential that cannot be used as it stands.
///
/// The description never contains the credential's material.
public struct GatewayCredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    public enum Code: String, Sendable, Hashable {
        /// It is not of the form that the gateway's credentials have.
        case malformed
        /// A part of it is missing.
        case missing
        /// It is of another kind than the connector needs.
        case wrongKind
        /// Its passphrase is another one.
        case wrongPassphrase
        /// Its time is over, or has not come yet.
        case expired
        /// It is for another application or another environment.
        case wrongApplication
    }

    /// What is wrong with it.
    public let code: Code
    /// Which credential, what is wrong, and what to do.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
