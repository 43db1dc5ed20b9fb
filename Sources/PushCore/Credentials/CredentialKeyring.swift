/// The keys of a key file. The first key seals credentials; every key can open them.
///
/// A file usually has one key. It has two while credentials are re-sealed under a new key.
package struct CredentialKeyring: Sendable {
    /// Seals new credentials.
    package let current: CredentialCipher
    /// Earlier keys, newest first.
    package let earlier: [CredentialCipher]

    /// Reads a key file: one key a line, 64 hexadecimal digits each. A `#` starts a comment. A single key may span
    /// several lines.
    package init(text: String) throws(CredentialError) {
        var ciphers: [CredentialCipher] = []
        for key in Self.keys(in: text) { ciphers.append(try CredentialCipher(keyText: key)) }
        guard let first = ciphers.first else { throw CredentialError(code: .badKey, credentialID: nil) }
        current = first
        earlier = Array(ciphers.dropFirst())
    }

    /// The ids of all keys, the current one first.
    package var keyIDs: [String] { [current.keyID] + earlier.map(\.keyID) }

    /// Opens a sealed credential with the key that sealed it.
    package func open(_ sealed: [UInt8], keyID: String, credentialID: Int64) throws(CredentialError) -> [UInt8] {
        guard let cipher = ([current] + earlier).first(where: { $0.keyID == keyID }) else {
            throw CredentialError(code: .otherKey(keyID), credentialID: credentialID)
        }
        return try cipher.open(sealed, credentialID: credentialID)
    }

    /// The text of a key file with another key put before its keys.
    package static func text(adding key: String, to text: String) -> String {
        ([key] + keys(in: text)).map { $0 + "\n" }.joined()
    }

    /// The text of a key file with the keys that it lacks appended from another key file.
    package static func text(completing text: String, from other: String) -> String {
        let own = keys(in: text)
        return (own + keys(in: other).filter { !own.contains($0) }).map { $0 + "\n" }.joined()
    }

    /// The text of a key file without its earlier keys.
    package static func textOfCurrentKey(in text: String) -> String {
        keys(in: text).prefix(1).map { $0 + "\n" }.joined()
    }

    /// The keys of a file, without spaces.
    private static func keys(in text: String) -> [String] {
        let lines = text.split(whereSeparator: \.isNewline)
            .map { $0.prefix { $0 != "#" }.filter { !$0.isWhitespace } }
            .filter { !$0.isEmpty }
        let whole = CredentialCipher.keyLength * 2
        // Lines that are not whole keys may form one key together.
        return lines.contains { $0.utf8.count != whole } ? [lines.joined()] : lines
    }
}
