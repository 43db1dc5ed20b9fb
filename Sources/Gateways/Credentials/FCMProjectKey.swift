/// The server key of a Firebase project, for legacy FCM.
package struct FCMProjectKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: String

    /// Makes a key; surrounding white space is removed.
    ///
    /// - Throws: `GatewayCredentialError` if it cannot be a key; the error never contains the key.
    package init(_ text: String) throws(GatewayCredentialError) {
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
                "the project key contains characters that are never in a server key: copy it from the Firebase console (project settings, Cloud Messaging)"
            )
        }
        self.key = String(key)
    }

    /// What it is, without the key.
    package var description: String { "project key" }

    /// Shows none of the key.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The value of the field `Authorization`.
    package var authorization: String { "key=" + key }
}
