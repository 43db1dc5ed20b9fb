/// A credential that cannot be used as it is.
///
/// The description never contains the credential's material.
package struct GatewayCredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    package enum Code: String, Sendable, Hashable {
        /// It does not have the form of the gateway's credentials.
        case malformed
        /// Part of it is missing.
        case missing
        /// It is not of the kind that the connector needs.
        case wrongKind
        /// Its passphrase is wrong.
        case wrongPassphrase
        /// It has expired or is not valid yet.
        case expired
        /// It is for another application or another environment.
        case wrongApplication
        /// It reads a source that the settings of this host do not allow.
        case notAllowed
    }

    /// What is wrong with it.
    package let code: Code
    /// Which credential, what is wrong, and what to do.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
