import HTTPTypes
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// The users of the console, whom administrators add, change and remove.
@Suite struct UsersPageTests {
    private static let author = AuditAuthor(name: "test", origin: "here")

    /// The password that an answer shows.
    private func shown(_ answer: ConsoleAnswer) throws -> String {
        let match = answer.text.firstMatch(of: /<pre[^>]*>([a-z2-9]{5}(?:-[a-z2-9]{5}){3})<\/pre>/)
        return String(try #require(match, "\(answer.text)").1)
    }

    @Test func anAdministratorAddsAColleagueWhoChoosesAPassword() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.admin, name: "ada")
        #expect(try await ada.get("/alarms").text.contains(#"href="/users""#))
        let rule = try await ada.get("/services/approval?service=shop").text
        #expect(rule.contains(#"<a href="/users">Users of the console, who approve"#))
        #expect(try await ada.get("/users/new").text.contains(#"<option value="read" selected>"#))
        let added = try await ada.post("/users/new", form: ["name": "<mia>", "role": "marketing"])
        #expect(added.status == .ok && added.headers[.cacheControl] == "no-store", "\(added.text)")
        #expect(added.text.contains("Password of &lt;mia&gt;") && added.text.contains("it is not shown again"))
        let password = try shown(added)

        let cookies = try await site.signIn("<mia>", password: password).cookies
        let page = try await site.ask(.get, "/password", cookies: cookies)
        let mia = ConsoleBrowser(site: site, cookies: cookies, token: page.formToken)
        for path in ["/", "/approvals"] {
            #expect(try await mia.get(path).headers[.location] == "/password", "\(path)")
        }
        let before = try await ada.get("/users").text
        #expect(before.contains("&lt;mia&gt;") && before.contains("one-time</span>"), "\(before)")
        let own = "a password of her own"
        let form = ["password": password, "new": own, "again": own]
        #expect(try await mia.post("/password", form: form).headers[.location] == "/")
        #expect(try await mia.get("/approvals").status == .ok)
        #expect(try await site.signIn("<mia>", password: password).status == .unauthorized)
        #expect(try await site.signIn("<mia>", password: own).status == .seeOther)

        #expect(try await !ada.get("/users").text.contains("one-time</span>"))
        for path in ["/users", "/users/new", "/audit"] {
            #expect(try await !ada.get(path).text.contains(password), "\(path) shows the password again")
        }
        let kept = "SELECT count(*) FROM pushmta_engine.audit_log a WHERE a::text LIKE '%\(password)%'"
        #expect(try await site.value(kept) == "0")
        await site.close()
    }

    @Test func whatIsWrongStandsAtItsField() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.admin, name: "ada")
        for (name, role, words) in [
            ("ada", "read", "There is already a user of this name"), (" ", "read", "Give it a name."),
            (String(repeating: "x", count: 201), "read", "A name has 1 to 200 bytes"),
            ("eve", "owner", "Choose one of the roles"),
        ] {
            let refused = try await ada.post("/users/new", form: ["name": name, "role": role])
            #expect(refused.status == .unprocessableContent, "\(words)")
            #expect(refused.text.contains(#"<p class="field-problem">\#(words)"#), "\(refused.text)")
            #expect(!refused.text.contains("<pre"))
        }
        #expect(try await site.admin.consoleUsers().map(\.name) == ["ada"])
        await site.close()
    }

    @Test func aRoleAPasswordAndARemovalHaveTheirEffectAtOnce() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.admin, name: "ada")
        let bob = try await site.session(.read, name: "bob")
        #expect(try await ada.get("/users/role?name=bob").text.contains(#"<option value="read" selected>"#))
        let changed = try await ada.post("/users/role?name=bob", form: ["role": "admin"])
        #expect(changed.headers[.location] == "/users?done=role", "\(changed.text)")
        #expect(try await ada.get("/users?done=role").text.contains("The role is changed."))
        #expect(try await bob.get("/audit").status == .ok)

        // A look at the question changes nothing.
        #expect(try await ada.get("/users/password?name=bob").text.contains("Give this user a new password?"))
        #expect(try await bob.get("/audit").status == .ok)
        let password = try shown(try await ada.post("/users/password?name=bob"))
        #expect(try await bob.get("/audit").status == .seeOther)
        #expect(try await site.signIn("bob").status == .unauthorized)
        let cookies = try await site.signIn("bob", password: password).cookies
        #expect(try await site.ask(.get, "/audit", cookies: cookies).headers[.location] == "/password")

        #expect(try await ada.get("/users/remove?name=bob").text.contains("Remove this user?"))
        #expect(try await ada.post("/users/remove?name=bob").headers[.location] == "/users?done=remove")
        #expect(try await ada.get("/users?done=remove").text.contains("The user is removed."))
        #expect(try await site.ask(.get, "/password", cookies: cookies).status == .seeOther)
        #expect(try await site.signIn("bob", password: password).status == .unauthorized)
        for action in ["role", "password", "remove"] {
            #expect(try await ada.post("/users/\(action)?name=bob").status == .notFound, "\(action)")
        }
        // Each change once, under the name of its user.
        let logged = try await site.value(
            """
            SELECT string_agg(rtrim(concat_ws(' ', who, action, subject, detail)) || ' from ' || origin, ', ' ORDER BY id)
            FROM pushmta_engine.audit_log WHERE action LIKE 'user.%' AND who <> 'test'
            """
        )
        let place = "from 192.0.2.1"
        #expect(
            logged == "ada user.role bob admin \(place), ada user.password bob \(place), ada user.remove bob \(place)"
        )
        await site.close()
    }

    @Test func nobodyChangesThemselvesSoTheLastAdministratorStays() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.admin, name: "ada")
        _ = try await site.session(.operate, name: "oda")
        let list = try await ada.get("/users").text
        #expect(list.contains("/users/remove?name=oda") && !list.contains("/users/remove?name=ada"))
        for action in ["role", "password", "remove"] {
            let path = "/users/\(action)?name=ada"
            for answer in [try await ada.get(path), try await ada.post(path, form: ["role": "read"])] {
                #expect(answer.status == .conflict, "\(action)")
                #expect(answer.text.contains("Another administrator can."), "\(answer.text)")
            }
        }
        // The database refuses it, too.
        #expect(try await refusals(site, ada.actor, of: "ada", all: false) == ["PM096"])
        #expect(try await site.admin.consoleUsers().map(\.role) == [.admin, .operate])
        // The command line may leave the console without an administrator, as somebody has to repair things.
        try await site.admin.removeConsoleUser("ada", by: Self.author)
        await site.close()
    }

    /// The first takes the right of the second, whose own removal waits meanwhile.
    @Test func ofTwoAdministratorsWhoRemoveEachOtherOneStays() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.admin, name: "ada")
        let bob = try await site.session(.admin, name: "bob")
        let connection = try await site.database.connect()
        let caller = "ROW('\\x\(Tokens.hex(ada.actor.tokenHash))'::bytea, now(), interval '1 hour', '')"
        try await connection.run(
            script: """
                BEGIN;
                SELECT pushmta_engine.console_admin_remove_user(\(caller)::pushmta_engine.console_caller, 'bob')
                """
        )
        let second = Task { try await site.admin.removeConsoleUser("ada", by: bob.actor) }
        try await eventually("the second removal waits") {
            try await site.value(
                """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                    AND query LIKE '%console_admin_remove_user%'
                """
            ) == "1"
        }
        try await connection.run(script: "COMMIT")
        await connection.close()
        let refused = await #expect(throws: StoreError.self) { try await second.value }
        #expect(refused?.sqlState == "PM090")
        #expect(try await site.admin.consoleUsers().map(\.name) == ["ada"])
        await site.close()
    }

    /// The SQLSTATEs with which the functions of administrators refuse a session, called by the console's own role.
    ///
    /// - Parameter all: whether also those that change no existing user.
    private func refusals(
        _ site: ConsoleSite,
        _ actor: ConsoleActor,
        of name: String,
        all: Bool = true
    ) async throws -> Set<String> {
        var calls: [@Sendable (Store) async throws -> Void] = [
            { try await $0.changeConsoleUser(name, role: .read, by: actor) },
            { try await $0.changeConsoleUser(name, oneTimeHash: "scrypt$", by: actor) },
            { try await $0.removeConsoleUser(name, by: actor) },
        ]
        if all {
            calls.append { try await $0.addConsoleUser("eve", role: .admin, oneTimeHash: "scrypt$", by: actor) }
            calls.append { _ = try await $0.consoleUsers(by: actor) }
        }
        var states: Set<String> = []
        for call in calls {
            do {
                try await site.responder.database.run(call)
                states.insert("none")
            } catch let error as StoreError {
                states.insert(error.sqlState ?? "")
            }
        }
        return states
    }

    @Test func theConsolesRoleNeedsTheSessionOfAnAdministrator() async throws {
        let site = try await ConsoleSite.start()
        try await site.user("ada", .admin)
        for role in [ConsoleRole.read, .marketing, .operate] {
            let browser = try await site.session(role)
            #expect(try await !browser.get("/alarms").text.contains(#"href="/users""#))
            #expect(try await browser.get("/users").status == .forbidden)
            #expect(try await refusals(site, browser.actor, of: "ada") == ["PM091"], "\(role)")
        }
        let nobody = ConsoleBrowser(site: site, cookies: "")
        #expect(try await refusals(site, nobody.actor, of: "ada") == ["PM090"])
        let hash = try await site.responder.passwords.hash("one time only")
        try await site.admin.addConsoleUser(
            "otto",
            role: .admin,
            passwordHash: hash,
            isOneTime: true,
            by: Self.author
        )
        let otto = ConsoleBrowser(site: site, cookies: try await site.signIn("otto", password: "one time only").cookies)
        #expect(try await refusals(site, otto.actor, of: "ada") == ["PM095"])

        let connection = try await site.database.connect()
        try await connection.run(script: "SET ROLE pushmta_console")
        for call in [
            "console_add_user('eve', 'admin', 'scrypt$', false, 'x', 'y')",
            "console_change_user('ada', 'read', NULL, false, 'x', 'y')", "console_remove_user('ada', 'x', 'y')",
            "console_admin_over(NULL, 'ada')",
        ] {
            let refused = await #expect(throws: PostgresError.self) {
                try await connection.run(script: "SELECT pushmta_engine.\(call)")
            }
            #expect(refused?.sqlState == "42501", "\(call)")
        }
        await connection.close()
        let users = try await site.admin.consoleUsers().map { "\($0.name) \($0.role.rawValue)" }
        #expect(users == ["ada admin", "marketing marketing", "operate operate", "otto admin", "read read"])
        await site.close()
    }
}
