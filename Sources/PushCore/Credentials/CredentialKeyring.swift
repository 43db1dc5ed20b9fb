/// The keys of a key file: the first one seals, all of them open.
///
/// A file has one key for most of its life, and two while credentials are sealed anew under another key.
public struct CredentialKeyring: Sendable {
    /// What new credentials are sealed with.
    public let current: CredentialCipher
    /// The keys that were in use before, newest first.
    public let earlier: [CredentialCipher]

    /// Reads a key file: a key a line, 64 hexadecimal digits each; what follows a `#` is a comment. One key alone may be spread
    /// over several lines.
    public init(text: String) throws(CredentialError) {
        var ciphers: [CredentialCipher] = []
        for key in Self.keys(in: text) { ciphers.append(try CredentialCipher(keyText: key)) }
        guard let first = ciphers.first else { throw CredentialError(code: .badKey, credentialID: nil) }
        current = first
        earlier = Array(ciphers.dropFirst())
    }

    /// All keys' ids, that of the current one first.
    public var keyIDs: [String] { [current.keyID] + earlier.map(\.keyID) }

    /// Opens a sealed credential with the key that sealed it.
    public func open(_ sealed: [UInt8], keyID: String, credentialID: Int64) throws(CredentialError) -> [UInt8] {
        guard let cipher = ([current] + earlier).first(where: { $0.keyID == keyID }) else {
            throw CredentialError(code: .otherKey(keyID), credentialID: credentialID)
        }
        return try cipher.open(sealed, credentialID: credentialID)
    }

    /// The text of a key file with another key before those that it has.
    public static func text(adding key: String, to text: String) -> String {
        ([key] + keys(in: text)).map { $0 + "\n" }.joined()
    }

    /// The text of a key file with those keys of another one behind its own that it lacks.
    public static func text(completing text: String, from other: String) -> String {
        let own = keys(in: text)
        return (own + keys(in: other).filter { !own.contains($0) }).map { $0 + "\n" }.joined()
    }

    /// The text of a key file without the keys that were in use before.
    public static func textOfCurrentKey(in text: String) -> String {
        keys(in: text).prefix(1).map { $0 + "\n" }.joined()
    }

    /// The keys of a file as texts without spaces.
    private static func keys(in text: String) -> [String] {
        let lines = text.split(whereSeparator: \.isNewline)
            .map { $0.prefix { $0 != "#" }.filter { !$0.isWhitespace } }
            .filter { !$0.isEmpty }
        let whole = CredentialCipher.keyLength * 2
        // Lines that are no keys alone may be one together.
        return lines.contains { $0.utf8.count != whole } ? [lines.joined()] : lines
    }
}
