/// The cookies of the console: the session's token, before there is a session the token of the sign-in form, what tells the browser from
/// others, and the language.
struct ConsoleCookies: Sendable, Hashable {
    /// Whether the browser speaks HTTPS, so that the cookies go over nothing else and no other host of the domain can set them
    /// (RFC 6265bis, section 4.1.3.2: the prefix of their names).
    let isSecure: Bool
    /// The token of the session.
    private(set) var sessionToken: String?
    /// The token that the sign-in form has, too.
    private(set) var formToken: String?
    /// What the browser got when a user signed in with it: it grants no access, but has its own attempts at that user's password.
    private(set) var deviceToken: String?
    /// The language that the person has chosen.
    private(set) var language: Language?

    private static let session = "pushmta-session"
    private static let form = "pushmta-form"
    private static let device = "pushmta-device"
    private static let language = "pushmta-language"
    /// As long as the database knows a browser.
    private static let deviceSeconds = 90 * 86_400
    /// A language stays chosen for a year: a choice, and nothing of a session.
    private static let languageSeconds = 31_536_000
    /// A token in hexadecimal; what is longer was not made here.
    private static let tokenLength = 64

    init(_ fields: [String], isSecure: Bool) {
        self.isSecure = isSecure
        for pair in fields.flatMap({ $0.split(separator: ";") }) {
            let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
            guard parts.count == 2 else { continue }
            if parts[0] == Self.language { language = Language(rawValue: parts[1]) }
            guard parts[1].utf8.count == Self.tokenLength else { continue }
            if parts[0] == name(Self.session) { sessionToken = parts[1] }
            if parts[0] == name(Self.form) { formToken = parts[1] }
            if parts[0] == name(Self.device) { deviceToken = parts[1] }
        }
    }

    /// The field that gives the browser a session; it ends with the browser, or when the database says so.
    func opening(session token: String) -> String { cookie(Self.session, token) }

    /// The field that gives the browser the token of a sign-in form.
    func opening(form token: String) -> String { cookie(Self.form, token) }

    /// The field that tells the browser from others when a user signs in again, also after signing out.
    func opening(device token: String) -> String { cookie(Self.device, token) + "; Max-Age=\(Self.deviceSeconds)" }

    /// The field that keeps a language. Links from elsewhere find it, too: it is no secret, and gives no right.
    func choosing(_ language: Language) -> String {
        "\(Self.language)=\(language.rawValue); Path=/; HttpOnly; SameSite=Lax; Max-Age=\(Self.languageSeconds)"
            + (isSecure ? "; Secure" : "")
    }

    /// The fields that take both tokens away.
    var closing: [String] { [Self.session, Self.form].map { cookie($0, "") + "; Max-Age=0" } }

    private func name(_ name: String) -> String { (isSecure ? "__Host-" : "") + name }

    private func cookie(_ name: String, _ value: String) -> String {
        "\(self.name(name))=\(value); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}

/// The names of fields that forms have.
enum ConsoleForm {
    static let token = "token"
    /// Name and password of the sign-in form, and where to go on.
    static let user = "user"
    static let password = "password"
    static let next = "next"
    /// A new password, twice.
    static let newPassword = "new"
    static let again = "again"
    /// The language that somebody has chosen.
    static let language = "language"
}
