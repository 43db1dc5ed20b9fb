/// Removes secrets from text that people see.
package enum SecretRedaction {
    /// The text that replaces a secret.
    package static let mark = "<redacted>"

    /// A libpq connection string or URI in the form that may be shown: unchanged without a password, the mark with one.
    ///
    /// It redacts the whole string, not the password alone, because libpq's quoting has many forms. A half-hidden
    /// password is worse than a hidden host name.
    package static func connectionString(_ text: String) -> String {
        let lower = text.lowercased()
        if lower.contains("password") { return mark }
        guard lower.hasPrefix("postgres://") || lower.hasPrefix("postgresql://") else { return text }
        let authority = lower.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        guard let at = authority.lastIndex(of: "@") else { return text }
        return authority[..<at].contains(":") ? mark : text
    }

    /// A secret in the form that may be shown: the mark if there is one.
    package static func secret(_ text: String) -> String {
        text.isEmpty ? "" : mark
    }

    /// A URL with the part before an `@` redacted, as it may contain a name and a password.
    package static func userInfo(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return text }
        return mark + text[at...]
    }
}
