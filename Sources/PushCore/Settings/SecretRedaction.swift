/// Leaves secrets out of text that people see.
public enum SecretRedaction {
    /// What stands in the place of a secret.
    public static let mark = "<redacted>"

    /// A libpq connection string or URI as it may be shown: as it is without a password, the mark with one.
    ///
    /// The whole string goes, and not the password alone, because libpq's quoting has many forms and a half-hidden password
    /// is worse than a hidden host name.
    public static func connectionString(_ text: String) -> String {
        let lower = text.lowercased()
        if lower.contains("password") { return mark }
        guard lower.hasPrefix("postgres://") || lower.hasPrefix("postgresql://") else { return text }
        let authority = lower.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first ?? ""
        guard let at = authority.lastIndex(of: "@") else { return text }
        return authority[..<at].contains(":") ? mark : text
    }

    /// A secret as it may be shown: whether there is one.
    public static func secret(_ text: String) -> String {
        text.isEmpty ? "" : mark
    }

    /// An address without what stands before an `@`, which may be a name and a password.
    public static func userInfo(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return text }
        return mark + text[at...]
    }
}
