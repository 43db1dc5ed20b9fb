/// The cookies of the console: the session token, the token of the sign-in form before there is a session, the token
/// that identifies the browser, and the language.
struct ConsoleCookies: Sendable, Hashable {
    /// Whether the browser uses HTTPS. Then the cookies travel over nothing else, and no other host of the domain can
    /// set them (RFC 6265bis, section 4.1.3.2: the prefix of their names).
    let isSecure: Bool
    /// The token of the session.
    private(set) var sessionToken: String?
    /// The token that the sign-in form repeats.
    private(set) var formToken: String?
    /// The token of a browser in which a user has signed in. It grants no access, but gives the browser its own
    /// attempts at that user's password.
    private(set) var deviceToken: String?
    /// The language that the user has chosen.
    private(set) var language: Language?

    private static let session = "pushmta-session"
    private static let form = "pushmta-form"
    private static let device = "pushmta-device"
    private static let language = "pushmta-language"
    /// As long as the database remembers a browser.
    private static let deviceSeconds = 90 * 86_400
    /// The choice of a language lasts a year; it has nothing to do with a session.
    private static let languageSeconds = 31_536_000
    /// The length of a token in hexadecimal; a longer one was not made here.
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

    /// The header field that opens a session in the browser. The cookie ends with the browser; the session may end
    /// earlier in the database.
    func opening(session token: String) -> String { cookie(Self.session, token) }

    /// The header field that sets the token of a sign-in form.
    func opening(form token: String) -> String { cookie(Self.form, token) }

    /// The header field that marks the browser for later sign-ins, also after signing out.
    func opening(device token: String) -> String { cookie(Self.device, token) + "; Max-Age=\(Self.deviceSeconds)" }

    /// The header field that keeps a language. Links from other sites send it, too: it is not secret and grants
    /// nothing.
    func choosing(_ language: Language) -> String {
        "\(Self.language)=\(language.rawValue); Path=/; HttpOnly; SameSite=Lax; Max-Age=\(Self.languageSeconds)"
            + (isSecure ? "; Secure" : "")
    }

    /// The header fields that delete both tokens.
    var closing: [String] { [Self.session, Self.form].map { cookie($0, "") + "; Max-Age=0" } }

    private func name(_ name: String) -> String { (isSecure ? "__Host-" : "") + name }

    private func cookie(_ name: String, _ value: String) -> String {
        "\(self.name(name))=\(value); Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}
