import Foundation
import HTTPTypes
import PushCore
import Store

/// Signing in and out.
struct SignIn: Sendable {
    let responder: ConsoleResponder

    private var settings: ConsoleSettings { responder.setup.settings.console }

    private var lock: ConsoleLock { Self.lock(settings) }

    /// The number of failures that lock a name, and for how long.
    static func lock(_ settings: ConsoleSettings) -> ConsoleLock {
        ConsoleLock(failures: settings.signInFailures, seconds: settings.lockMinutes * 60)
    }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, ConsoleRoutes.signInPath, .everybody) { call in
                page(call, notice: call.query["over"] == nil ? nil : .sessionOver)
            },
            ConsoleRoute(.post, ConsoleRoutes.signInPath, .everybody) { try await signIn($0) },
            ConsoleRoute(.post, ConsoleRoutes.signOutPath, .role(.read)) { call in
                try await responder.database.run { try await $0.endConsoleSession(call.actor) }
                return .redirect(ConsoleRoutes.signInPath, cookies: call.cookies.closing)
            },
        ]
    }

    /// The sign-in form. A browser without a form token gets one.
    private func page(_ call: ConsoleCall, notice: Phrase?, minutes: Int = 0, user: String = "") -> ConsoleReply {
        let token = call.cookies.formToken ?? Tokens.make()
        var values: PageValues = [
            "token": .text(token), "user": .text(user),
            "next": .text(Self.next(call.form[ConsoleForm.next] ?? call.query["next"])),
        ]
        values["languageMenu"] = LanguageMenu.values(
            path: LanguageMenu.signInPath,
            formToken: token,
            next: Self.next(call.form[ConsoleForm.next] ?? call.query["next"])
        )
        if let notice {
            values["notice"] = .text(responder.pages.catalogue.text(notice, "\(minutes)"))
            values["isError"] = .flag(notice != .sessionOver)
        }
        return .page(
            ConsolePage(
                "sign-in",
                title: responder.pages.catalogue[.signInTitle],
                values,
                status: notice == nil || notice == .sessionOver ? .ok : .unauthorized,
                cookies: [call.cookies.opening(form: token)]
            )
        )
    }

    private func signIn(_ call: ConsoleCall) async throws -> ConsoleReply {
        let user = String((call.form[ConsoleForm.user] ?? "").prefix(NameRule.maxNameLength))
        let password = call.form[ConsoleForm.password] ?? ""
        let address = call.actor.address
        let moment = call.actor.moment
        let (lock, lasts) = (lock, settings.sessionHours * 3_600)
        // A browser without a device token gets one when it signs in.
        let deviceToken = call.cookies.deviceToken ?? Tokens.make()
        let device = Tokens.hash(deviceToken)
        let attempt = try await responder.database.run {
            try await $0.consoleAttempt(user: user, address: address, device: device, lock: lock, at: moment)
        }
        let isLocked = attempt.secondsLocked > 0
        // A locked name learns nothing about the password, and waits as long as any other. A locked address is
        // refused without a comparison, and learns nothing about names.
        let isRight =
            attempt.isAddressLocked
            ? false : try await responder.passwords.isRight(password, hash: isLocked ? nil : attempt.hash)
        let (token, formToken) = (Tokens.make(), Tokens.make())
        let hash = Tokens.hash(token)
        var isOpen = false
        if isRight, let compared = attempt.hash {
            isOpen = try await responder.database.run {
                try await $0.beginConsoleSession(
                    user: user,
                    hash: compared,
                    address: address,
                    device: device,
                    tokenHash: hash,
                    formToken: formToken,
                    lastsSeconds: lasts,
                    at: moment
                )
            }
        }
        guard isOpen else {
            if !isLocked {
                try await responder.database.run { try await $0.refuseConsoleAttempt(user: user, address: address) }
            }
            let minutes = max(1, Int((attempt.secondsLocked / 60).rounded(.up)))
            return page(call, notice: isLocked ? .signInLocked : .signInRefused, minutes: minutes, user: user)
        }
        return .redirect(
            Self.next(call.form[ConsoleForm.next]),
            cookies: call.cookies.closing.filter { !$0.contains("session") }
                + [call.cookies.opening(session: token), call.cookies.opening(device: deviceToken)]
        )
    }

    /// The path to continue to: one of the console, never of another site.
    static func next(_ text: String?) -> String {
        guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), !text.contains("\\"), text.utf8.count <= 500,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.hasPrefix("/sign-")
        else { return "/" }
        return text
    }

    /// A path as the value of a query parameter.
    static func encoded(_ path: String) -> String {
        path.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "/-._~")))
            ?? "/"
    }
}
