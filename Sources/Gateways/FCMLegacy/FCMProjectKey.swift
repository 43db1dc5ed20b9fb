/// The server key of a Firebase project, for legacy FCM.
public struct FCMProjectKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: String

    /// Takes a key; white space around it is left out.
    ///
    /// - Throws: `GatewayCredentialError` when it cannot be one; never with the key.
    public init(_ text: String) throws(GatewayCredentialError) {
        let key = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        guard !key.isEmpty else {
            throw GatewayCredentialError(
                .missing,
                "the project key is empty: copy the server key from the Firebase console (project settings, Cloud Messaging)"
            )
        }
        guard key.allSatisfy({ $0.isASCII && $0 > " " && $0 != "\u{7F}" }) else {
            throw GatewayCredentialError(
                .malformed,
                "the project key contains characters that no server key has: copy it from the Firebase console (project settings, Cloud Messaging)"
            )
        }
        self.key = String(key)
    }

    /// What it is, without the key.
    public var description: String { "project key" }

    /// Nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The value of the field `Authorization`.
    var authorization: String { "key=" + key }
}
