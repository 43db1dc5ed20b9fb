/// Why a credential cannot be sealed or opened. It never contains the key or the credential.
package struct CredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The master key is not 32 bytes long, or its text is not 64 hexadecimal digits.
        case badKey
        /// The bytes are too short for a sealed credential.
        case tooShort
        /// The sealed credential has an unknown format, given here.
        case unknownFormat(UInt8)
        /// The key does not match, the bytes were changed, or they belong to another credential.
        case notAuthentic
        /// It was sealed with a key that the key file does not have. The value is that key's id.
        case otherKey(String)
    }

    package let code: Code
    /// The credential's id; nil when the error concerns the key alone.
    package let credentialID: Int64?

    /// What is wrong with which credential, and what to do.
    package var description: String {
        let credential = credentialID.map { "Credential \($0)" } ?? "The credential"
        switch code {
        case .badKey:
            return
                "The master key for credentials must be 32 bytes, written as 64 hexadecimal digits; check the key file."
        case .tooShort:
            return "\(credential) is truncated in the database; set it again with `pushmta credential set`."
        case .unknownFormat(let format):
            return "\(credential) is sealed in format \(format), which this version does not know; update the program."
        case .otherKey(let keyID):
            return """
                \(credential) cannot be opened: it was sealed with the key \(keyID), which is not in the key file; use the key \
                file of the other hosts, or set the credential again with `pushmta credential set`.
                """
        case .notAuthentic:
            return """
                \(credential) cannot be opened: the master key is not the one it was sealed with, or its bytes were \
                changed; check the key file, or set the credential again with `pushmta credential set`.
                """
        }
    }
}
