import HTTPTypes
import PushCore
import Store

/// The language menu in the footer of each page, and its action.
enum LanguageMenu {
    /// For signed-in users.
    static let path = "/language"
    /// For users who are not signed in: their form has the token of the sign-in form.
    static let signInPath = "/sign-in/language"

    static var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.post, path, .role(.read)) { call in try choose(call, back: next(call)) },
            ConsoleRoute(.post, signInPath, .everybody) { call in
                try choose(call, back: ConsoleRoutes.signInPath + "?next=" + SignIn.encoded(next(call)))
            },
        ]
    }

    private static func next(_ call: ConsoleCall) -> String { SignIn.next(call.form[ConsoleForm.next]) }

    private static func choose(_ call: ConsoleCall, back: String) throws(ConsoleProblem) -> ConsoleReply {
        guard let language = call.form[ConsoleForm.language].flatMap({ Language(rawValue: $0) }) else {
            throw .malformed
        }
        return .redirect(back, cookies: [call.cookies.choosing(language)])
    }

    /// The values of the menu.
    ///
    /// - Parameters:
    ///   - path: the path that its form is sent to.
    ///   - next: the path to return to.
    static func values(path: String, formToken: String, next: String) -> PageValue {
        .group([
            "path": .text(path), "menuToken": .text(formToken), "menuNext": .text(next),
            "languages": .list(
                Language.allCases.map { language in
                    [
                        "code": .text(language.rawValue), "name": .text(language.name),
                        "isHere": .flag(language == Language.current),
                    ]
                }
            ),
        ])
    }
}
