import HTTPTypes
import PushCore
import Store

/// *Users*: who may sign in and what each may do, for administrators, who add, change and remove users here.
///
/// The console makes each password and shows it once, in the answer to the form. An administrator has seen it, so it
/// opens only the page on which its user chooses another (``PasswordPage``).
struct UsersPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/users"
    /// The names of the form fields; that of the user is also a parameter.
    private enum Name {
        static let (name, role) = ("name", "role")
    }

    private var catalogue: Catalogue { responder.pages.catalogue }
    private var toUsers: (path: String, name: String) { (Self.path, catalogue[.usersTitle]) }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.admin)) { try await list($0) },
            ConsoleRoute(.get, Self.path + "/new", .role(.admin)) { _ in newForm.reply() },
            ConsoleRoute(.post, Self.path + "/new", .role(.admin)) { try await add($0) },
            ConsoleRoute(.get, Self.path + "/role", .role(.admin)) { roleForm(try await other($0)).reply() },
            ConsoleRoute(.post, Self.path + "/role", .role(.admin)) { try await changeRole($0) },
            confirmation("/password", .userPasswordAsk, .userPasswordAskText, .userPasswordButton),
            ConsoleRoute(.post, Self.path + "/password", .role(.admin)) { try await givePassword($0) },
            confirmation("/remove", .userRemoveTitle, .userRemoveText, .removeDraft),
            ConsoleRoute(.post, Self.path + "/remove", .role(.admin)) { try await remove($0) },
        ]
    }

    private static func path(_ action: String, _ user: String) -> String {
        "\(path)\(action)?\(Name.name)=\(SignIn.encoded(user))"
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let own = try call.user.user
        let users = try await responder.database.run { try await $0.consoleUsers(by: call.actor) }
        var values: PageValues = ["rows": .list(users.map { row($0, isOwn: $0.name == own) })]
        let done: Phrase? =
            switch call.query["done"] {
            case "role": .doneUserRole
            case "remove": .doneUserRemove
            default: nil
            }
        if let done { values["done"] = .text(catalogue[done]) }
        return .page(ConsolePage("users", title: catalogue[.usersTitle], values))
    }

    private func row(_ user: ConsoleUserRow, isOwn: Bool) -> PageValues {
        [
            "name": .text(user.name), "role": .text(catalogue.role(user.role)), "isOneTime": .flag(user.isOneTime),
            "sessions": .text(Figures.count(user.sessions)), "created": .text(Figures.minute(user.createdAt)),
            "changed": .text(Figures.minute(user.changedAt)), "isOwn": .flag(isOwn),
            "rolePath": .text(Self.path("/role", user.name)),
            "passwordPath": .text(Self.path("/password", user.name)),
            "removePath": .text(Self.path("/remove", user.name)),
        ]
    }

    /// The user that the query names. Nobody changes themselves here: the database refuses that, too, and an open
    /// browser must not give a stranger a password without the current one.
    private func other(_ call: ConsoleCall) async throws -> ConsoleUserRow {
        let name = call.query[Name.name] ?? ""
        let own = try call.user.user
        guard name != own else { throw ConsoleProblem.conflict(catalogue[.userOwn]) }
        let users = try await responder.database.run { try await $0.consoleUsers(by: call.actor) }
        guard let user = users.first(where: { $0.name == name }) else { throw ConsoleProblem.notFound }
        return user
    }

    private func confirmation(_ action: String, _ title: Phrase, _ text: Phrase, _ button: Phrase) -> ConsoleRoute {
        ConsoleRoute(.get, Self.path + action, .role(.admin)) { call in
            let user = try await other(call)
            return .page(
                ConsolePage(
                    "confirm",
                    title: catalogue[title],
                    [
                        "subject": .text("\(user.name) (\(catalogue.role(user.role)))"), "text": .text(catalogue[text]),
                        "action": .text(Self.path(action, user.name)), "button": .text(catalogue[button]),
                        "back": .text(Self.path),
                    ]
                )
            )
        }
    }

    private func remove(_ call: ConsoleCall) async throws -> ConsoleReply {
        let user = try await other(call)
        try await responder.database.run { try await $0.removeConsoleUser(user.name, by: call.actor) }
        return .redirect(Self.path + "?done=remove")
    }
}

/// Roles.
extension UsersPage {
    private func roleForm(_ user: ConsoleUserRow) -> FormPage {
        FormPage(
            title: catalogue.text(.userRoleTitle, user.name),
            action: Self.path("/role", user.name),
            back: toUsers,
            intro: catalogue[.userRoleText],
            fields: [roleField(user.role)],
            button: catalogue[.save]
        )
    }

    private func roleField(_ role: ConsoleRole) -> FormField {
        FormField(
            name: Name.role,
            label: catalogue[.userRole],
            kind: .choice(ConsoleRole.allCases.map { FormOption($0.rawValue, catalogue.role($0)) }),
            hint: catalogue[.userRoleHint],
            isRequired: true,
            value: role.rawValue
        )
    }

    private func chosenRole(_ call: ConsoleCall) throws(FormRefusal) -> ConsoleRole {
        guard let role = ConsoleRole(rawValue: call.typed(Name.role)) else {
            throw FormRefusal([Name.role: catalogue[.userRoleWrong]])
        }
        return role
    }

    private func changeRole(_ call: ConsoleCall) async throws -> ConsoleReply {
        let user = try await other(call)
        return try await roleForm(user).reply(to: call) {
            let role = try chosenRole(call)
            try await responder.database.run { try await $0.changeConsoleUser(user.name, role: role, by: call.actor) }
            return .redirect(Self.path + "?done=role")
        }
    }
}

/// Passwords. They are in no log and no address, and browsers keep no page of the console.
extension UsersPage {
    private var newForm: FormPage {
        FormPage(
            title: catalogue[.userNewTitle],
            action: Self.path + "/new",
            back: toUsers,
            intro: catalogue[.userNewText],
            fields: [FormField.ofName(Name.name, catalogue[.userNameHint], catalogue), roleField(.read)],
            button: catalogue[.userNewButton]
        )
    }

    private func add(_ call: ConsoleCall) async throws -> ConsoleReply {
        try await newForm.reply(to: call) {
            let name = call.typed(Name.name)
            guard NameRule.problem(name: name) == nil else {
                throw FormRefusal([Name.name: catalogue.text(.userNameWrong, "\(NameRule.maxNameLength)")])
            }
            let role = try chosenRole(call)
            do {
                return try await withPassword(of: name) { store, hash in
                    try await store.addConsoleUser(name, role: role, oneTimeHash: hash, by: call.actor)
                }
            } catch let error as StoreError where error.sqlState == "PM093" {
                throw FormRefusal([Name.name: catalogue[.userTaken]])
            }
        }
    }

    private func givePassword(_ call: ConsoleCall) async throws -> ConsoleReply {
        let user = try await other(call)
        return try await withPassword(of: user.name) { store, hash in
            try await store.changeConsoleUser(user.name, oneTimeHash: hash, by: call.actor)
        }
    }

    /// Makes a password, has its hash stored, and shows it.
    private func withPassword(
        of user: String,
        _ keep: @escaping @Sendable (Store, _ hash: String) async throws -> Void
    ) async throws -> ConsoleReply {
        let password = Passwords.generated()
        let hash = try await responder.passwords.hash(password)
        try await responder.database.run { try await keep($0, hash) }
        return .page(
            ConsolePage(
                "secret",
                title: catalogue.text(.userPasswordTitle, user),
                [
                    "secret": .text(password), "text": .text(catalogue.text(.userPasswordText, user)),
                    "back": .text(Self.path), "backName": .text(catalogue[.usersTitle]),
                    "button": .text(catalogue[.userPasswordBack]),
                ]
            )
        )
    }
}
