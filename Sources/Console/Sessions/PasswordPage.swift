import HTTPTypes
import PushCore
import Store

/// *Password*: a signed-in user chooses a new password. A user with a one-time password gets this page first, and no
/// other.
struct PasswordPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/password"

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { call in
                try page(call, isDone: call.query["done"] != nil)
            },
            ConsoleRoute(.post, Self.path, .role(.read)) { try await choose($0) },
        ]
    }

    /// Whether a user who must choose a password may use a route.
    static func isOpen(_ route: ConsoleRoute) -> Bool {
        [path, ConsoleRoutes.signOutPath, LanguageMenu.path].contains(route.path)
    }

    private func page(_ call: ConsoleCall, problem: String? = nil, isDone: Bool = false) throws -> ConsoleReply {
        let mustChoose = try call.user.mustChoosePassword
        var values: PageValues = [
            "user": .text(try call.user.user), "mustChoose": .flag(mustChoose), "isDone": .flag(isDone && !mustChoose),
            "shortest": .text("\(Passwords.shortest)"), "longest": .text("\(Passwords.longest)"),
            "hint": .text(catalogue.text(.passwordHint, "\(Passwords.shortest)")),
        ]
        if let problem { values["problem"] = .text(problem) }
        return .page(
            ConsolePage(
                "password",
                title: catalogue[.passwordTitle],
                values,
                status: problem == nil ? .ok : .conflict
            )
        )
    }

    private func choose(_ call: ConsoleCall) async throws -> ConsoleReply {
        let session = try call.user
        let old = call.form[ConsoleForm.password] ?? ""
        let new = call.form[ConsoleForm.newPassword] ?? ""
        if let problem = problem(old: old, new: new, again: call.form[ConsoleForm.again] ?? "") {
            return try page(call, problem: problem)
        }
        // A stranger at an open browser has no more attempts than at the sign-in.
        let lock = SignIn.lock(responder.setup.settings.console)
        let device = call.cookies.deviceToken.map { Tokens.hash($0) } ?? []
        let attempt = try await responder.database.run {
            try await $0.consoleAttempt(
                user: session.user,
                address: call.actor.address,
                device: device,
                lock: lock,
                at: call.actor.moment
            )
        }
        guard attempt.secondsLocked == 0 else {
            let minutes = max(1, Int((attempt.secondsLocked / 60).rounded(.up)))
            return try page(call, problem: catalogue.text(.signInLocked, "\(minutes)"))
        }
        guard let hash = attempt.hash, try await responder.passwords.isRight(old, hash: hash) else {
            try await responder.database.run {
                try await $0.refuseConsoleAttempt(user: session.user, address: call.actor.address)
            }
            return try page(call, problem: catalogue[.passwordWrong])
        }
        let newHash = try await responder.passwords.hash(new)
        let isChanged = try await responder.database.run {
            try await $0.chooseConsolePassword(replacing: hash, with: newHash, by: call.actor)
        }
        guard isChanged else { return try page(call, problem: catalogue[.passwordWrong]) }
        return .redirect(session.mustChoosePassword ? "/" : Self.path + "?done=1")
    }

    /// What is wrong with a new password, in words.
    private func problem(old: String, new: String, again: String) -> String? {
        if new.count < Passwords.shortest { return catalogue.text(.passwordShort, "\(Passwords.shortest)") }
        if new.count > Passwords.longest { return catalogue.text(.passwordLong, "\(Passwords.longest)") }
        if new != again { return catalogue[.passwordDiffers] }
        return new == old ? catalogue[.passwordSame] : nil
    }
}
