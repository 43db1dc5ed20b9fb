import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Sign-in, sessions and locks, with a clock that the test controls.
@Suite struct SessionTests {
    @Test func whoSignsInSeesPagesUntilSigningOut() async throws {
        let site = try await ConsoleSite.start()
        try await site.user("ada", .read)
        #expect(try await site.ask(.get, "/").headers[.location] == "/sign-in?next=/", "it is a first visit")
        let answer = try await site.signIn("ada", next: "/deliveries?state=paused")
        #expect(answer.status == .seeOther && answer.headers[.location] == "/deliveries?state=paused")
        let cookie = try #require(answer.headers[values: .setCookie].first { $0.hasPrefix("pushmta-session=") })
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
        #expect(!cookie.contains("Secure"))
        let page = try await site.ask(.get, "/", cookies: answer.cookies)
        #expect(page.status == .ok && page.text.contains("<bdi>ada</bdi>"))
        let out = try await site.ask(.post, "/sign-out", form: ["token": page.formToken], cookies: answer.cookies)
        #expect(
            out.headers[.location] == "/sign-in"
                && out.headers[values: .setCookie].allSatisfy { $0.contains("Max-Age=0") }
        )
        let over = try await site.ask(.get, "/", cookies: answer.cookies)
        #expect(over.status == .seeOther && over.headers[.location] == "/sign-in?next=/&over=1")
        await site.close()
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/sign-out", "",
    ])
    func nobodyIsSentToAnotherSite(next: String) async throws {
        #expect(SignIn.next(next) == "/")
        #expect(SignIn.next("/deliveries/5?x=y%20z") == "/deliveries/5?x=y%20z")
    }

    @Test func sessionsEndWithoutUseAndInAnyCase() async throws {
        let site = try await ConsoleSite.start {
            $0.idleMinutes = 30
            $0.sessionHours = 2
        }
        let ada = try await site.session(.read)
        for _ in 0..<5 {
            site.pass(minutes: 20)
            #expect(try await ada.get("/alarms").status == .ok)
        }
        // A page that reloads itself does not count as use.
        site.pass(minutes: 15)
        #expect(try await ada.get("/live").status == .ok)
        #expect(try await ada.get("/alarms").status == .ok)
        site.pass(minutes: 10)
        let end = try await ada.get("/alarms")
        #expect(end.status == .seeOther && end.headers[.location]?.hasPrefix("/sign-in?next=/alarms") == true)
        #expect(try await ada.get("/live").status == .unauthorized)
        let again = try await site.browser("read")
        site.pass(minutes: 25)
        #expect(try await again.get("/live").status == .ok)
        site.pass(minutes: 6)
        #expect(try await again.get("/alarms").status == .seeOther)
        await site.close()
    }

    /// Sign-in leads back to the form, whose script shows again what was typed.
    @Test func whoseSessionEndsWhileTypingComesBackToTheForm() async throws {
        let site = try await ConsoleSite.start { $0.idleMinutes = 30 }
        let (mia, draft) = try await site.saleDraft()
        let page = try await mia.get("\(draft)/content").text
        for hook in ["id=\"typed-back\"", "data-user=\"mia\"", "action=\"\(draft)/content\"", "compose.js"] {
            #expect(page.contains(hook), "\(hook)")
        }
        // Where the form was refused, the page leads back to it, and keeps its text for it.
        let refused = try await mia.post("\(draft)/content", form: ["version": "1"], token: "0")
        #expect(refused.status == .forbidden && refused.text.contains("id=\"not-done\""))
        #expect(refused.text.contains("href=\"\(draft)/content\""))
        // A language leads back to it, too.
        #expect(refused.text.contains("name=\"next\" value=\"\(draft)/content\""))
        site.pass(minutes: 31)
        for (path, step) in [
            ("content", "content"), ("send", "send"), ("proof", "send"), ("template", "send"), ("analyse", "send"),
            ("reader", "preview"),
        ] {
            let over = try await mia.post("\(draft)/\(path)", form: ["version": "1"])
            #expect(over.headers[.location] == "/sign-in?next=\(draft)/\(path)&over=1")
            let again = try await site.signIn("mia", next: "\(draft)/\(path)")
            #expect(again.headers[.location] == "\(draft)/\(path)")
            let place = try await site.ask(.get, "\(draft)/\(path)", cookies: again.cookies)
            if path == step {
                #expect(place.status == .ok, "\(path)")
            } else {
                #expect(place.headers[.location] == "\(draft)/\(step)", "\(path)")
            }
        }
        await site.close()
    }

    @Test func tooManyFailuresLockNameAndAddressKnownOrNot() async throws {
        let site = try await ConsoleSite.start {
            $0.signInFailures = 3
            $0.lockMinutes = 15
        }
        try await site.user("ada", .read)
        for name in ["ada", "nobody"] {
            for _ in 0..<3 {
                let answer = try await site.signIn(name, password: "wrong")
                #expect(answer.status == .unauthorized && answer.text.contains("Name or password is wrong"))
            }
            let answer = try await site.signIn(name)
            #expect(answer.status == .unauthorized && answer.text.contains("Try again in 15 min"), "\(name)")
        }
        // The name is locked for attempts from that address only.
        #expect(try await site.signIn("ada", peer: "192.0.2.9").status == .seeOther)
        try await site.user("bob", .read)
        #expect(try await site.signIn("bob", peer: "192.0.2.9").status == .seeOther)
        site.pass(minutes: 16)
        #expect(try await site.signIn("ada").status == .seeOther)
        // The address has four times as many attempts, over all names.
        for number in 0..<12 { _ = try await site.signIn("guess \(number)", password: "wrong", peer: "192.0.2.77") }
        #expect(try await site.signIn("bob", peer: "192.0.2.77").text.contains("Too many attempts have failed"))
        // Attempts from a locked address do not count against any name.
        for _ in 0..<5 { _ = try await site.signIn("bob", password: "wrong", peer: "192.0.2.77") }
        #expect(try await site.signIn("bob").status == .seeOther)
        await site.close()
    }

    /// A stranger who knows a name cannot lock out its user, neither with all attempts of one address nor from many
    /// addresses.
    @Test func nobodyElsesFailuresLockAUserOut() async throws {
        let site = try await ConsoleSite.start { $0.signInFailures = 1 }
        try await site.user("ada", .read)
        let known = try await site.signIn("ada", peer: "192.0.2.5")
        let device = try #require(
            known.cookies.split(separator: "; ").first { $0.hasPrefix("pushmta-device=") }.map(String.init)
        )
        let locked = "Too many attempts have failed"
        // Attempts from twenty addresses lock the name for unknown addresses.
        let lock = ConsoleLock(failures: 1, seconds: 900)
        for number in 1...20 {
            _ = try await site.admin.consoleAttempt(user: "ada", address: "198.51.100.\(number)", lock: lock)
        }
        #expect(try await site.signIn("ada", peer: "203.0.113.1").text.contains(locked))
        #expect(try await site.signIn("ada", peer: "192.0.2.5").status == .seeOther, "the address is known")
        #expect(
            try await site.signIn("ada", peer: "203.0.113.2", cookies: device).status == .seeOther,
            "the browser is"
        )
        // From the same office: the attempts lock the address, not the user's browser.
        _ = try await site.signIn("ada", password: "wrong", peer: "192.0.2.5")
        #expect(try await site.signIn("ada", peer: "192.0.2.5").text.contains(locked))
        #expect(try await site.signIn("ada", peer: "192.0.2.5", cookies: device).status == .seeOther)
        // A stolen browser has as few attempts, and none for other names.
        _ = try await site.signIn("ada", password: "wrong", peer: "203.0.113.9", cookies: device)
        #expect(try await site.signIn("ada", peer: "203.0.113.9", cookies: device).text.contains(locked))
        try await site.user("bob", .read)
        _ = try await site.signIn("bob", password: "wrong", peer: "203.0.113.8", cookies: device)
        #expect(try await site.signIn("bob", peer: "203.0.113.8", cookies: device).text.contains(locked))
        #expect(try await site.signIn("bob", peer: "203.0.113.7").status == .seeOther)
        await site.close()
    }

    @Test func aPasswordThatWasChangedMeanwhileOpensNothing() async throws {
        let site = try await ConsoleSite.start()
        try await site.user("ada", .read)
        let lock = ConsoleLock(failures: 5, seconds: 900)
        let attempt = try await site.admin.consoleAttempt(user: "ada", address: "192.0.2.1", lock: lock)
        let old = try #require(attempt.hash)
        let hash = try await Passwords().hash("another password")
        try await site.admin.changeConsoleUser("ada", passwordHash: hash, by: AuditAuthor(name: "test", origin: "here"))
        for (compared, isOpen) in [(old, false), (hash, true)] {
            let begun = try await site.admin.beginConsoleSession(
                user: "ada",
                hash: compared,
                address: "192.0.2.1",
                tokenHash: Tokens.hash(compared),
                formToken: "form",
                lastsSeconds: 60
            )
            #expect(begun == isOpen)
        }
        await site.close()
    }

    @Test func manyWhoSignInAtOnceKeepNobodyWaiting() async throws {
        let passwords = Passwords()
        let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    do {
                        return try await passwords.isRight("a password", hash: nil)
                    } catch ConsoleProblem.busy {
                        return true
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(refused > 0 && refused <= 40)
        #expect(try await passwords.isRight("a password", hash: nil) == false, "and then it goes on")
        await passwords.close()
    }

    @Test func aNewPasswordEndsSessionsAndTheLock() async throws {
        let site = try await ConsoleSite.start { $0.signInFailures = 1 }
        let ada = try await site.session(.read, name: "ada")
        _ = try await site.signIn("ada", password: "wrong")
        #expect(try await site.signIn("ada").status == .unauthorized)
        let hash = try await Passwords().hash("another password")
        let author = AuditAuthor(name: "test", origin: "here")
        try await site.admin.changeConsoleUser("ada", passwordHash: hash, by: author)
        #expect(try await ada.get("/alarms").status == .seeOther)
        #expect(try await site.signIn("ada", password: "another password").status == .seeOther)
        try await site.admin.removeConsoleUser("ada", by: author)
        await #expect(throws: StoreError.self) { try await site.admin.removeConsoleUser("ada", by: author) }
        await site.close()
    }

    @Test func aOneTimePasswordOpensOnePage() async throws {
        let site = try await ConsoleSite.start()
        let author = AuditAuthor(name: "test", origin: "here")
        let delivery = try await site.delivery()
        try await site.user("ada", .admin)
        let hash = try await Passwords().hash("one time only")
        try await site.admin.changeConsoleUser("ada", passwordHash: hash, isOneTime: true, by: author)
        #expect(try await site.admin.consoleUsers().first?.isOneTime == true)
        let cookies = try await site.signIn("ada", password: "one time only").cookies
        let page = try await site.ask(.get, "/password", cookies: cookies)
        #expect(page.status == .ok && page.text.contains("one-time password") && !page.text.contains("/deliveries"))
        let ada = ConsoleBrowser(site: site, cookies: cookies, token: page.formToken)
        for path in ["/", "/deliveries", "/audit", "/live", "/compose"] {
            #expect(try await ada.get(path).headers[.location] == "/password", "\(path)")
        }
        #expect(try await ada.post("/deliveries/\(delivery)/stop").headers[.location] == "/password")
        #expect(try await site.admin.deliveryProgress(delivery).state == .pending)
        // The database's functions cannot be reached in another way.
        let refused = await #expect(throws: StoreError.self) {
            try await site.admin.control(.stop, delivery: delivery, by: ada.actor)
        }
        #expect(refused?.sqlState == "PM095")
        func choose(_ old: String, _ new: String, _ again: String? = nil) async throws -> ConsoleAnswer {
            try await ada.post("/password", form: ["password": old, "new": new, "again": again ?? new])
        }
        for (new, again, words) in [
            ("short", "short", "too short"), ("a longer password", "another one", "passwords are different"),
            ("one time only", "one time only", "the same as the current one"),
            (String(repeating: "x", count: 201), String(repeating: "x", count: 201), "too long"),
        ] {
            let answer = try await choose("one time only", new, again)
            #expect(answer.status == .conflict && answer.text.contains(words), "\(words)")
        }
        #expect(try await choose("wrong", "a longer password").text.contains("current password is wrong"))
        let chosen = try await choose("one time only", "a longer password")
        #expect(chosen.status == .seeOther && chosen.headers[.location] == "/")
        #expect(try await ada.get("/audit").text.contains("gave a user a new password"))
        #expect(try await site.signIn("ada", password: "one time only").status == .unauthorized)
        #expect(try await site.signIn("ada", password: "a longer password").status == .seeOther)
        await site.close()
    }

    @Test func aNewPasswordOfOnesOwnEndsTheOtherSessions() async throws {
        let site = try await ConsoleSite.start { $0.signInFailures = 2 }
        let ada = try await site.session(.read, name: "ada")
        let other = try await site.browser("ada")
        #expect(try await ada.get("/alarms").text.contains("href=\"/password\""))
        // In an unattended browser, guesses of the password are limited just as at sign-in.
        for _ in 0..<2 {
            let form = ["password": "guess", "new": "a longer password", "again": "a longer password"]
            #expect(try await ada.post("/password", form: form).text.contains("current password is wrong"))
        }
        let form = ["password": ConsoleSite.password, "new": "a longer password", "again": "a longer password"]
        #expect(try await ada.post("/password", form: form).text.contains("Too many attempts have failed"))
        site.pass(minutes: 16)
        #expect(try await ada.post("/password", form: form).headers[.location] == "/password?done=1")
        #expect(try await ada.get("/password?done=1").text.contains("The password is changed"))
        #expect(try await other.get("/alarms").status == .seeOther)
        #expect(try await site.signIn("ada", password: "a longer password").status == .seeOther)
        await site.close()
    }

    @Test func passwordsAreComparedWithTheirHash() async throws {
        let passwords = Passwords()
        let hash = try await passwords.hash("Straße 12345")
        #expect(hash.hasPrefix("scrypt$15$8$3$"))
        #expect(try await passwords.isRight("Straße 12345", hash: hash))
        #expect(try await !passwords.isRight("Strasse 12345", hash: hash))
        #expect(try await !passwords.isRight("Straße 12345", hash: nil))
        #expect(try await !passwords.isRight("x", hash: "scrypt$40$8$1$00$00"))
        #expect(Set((0..<50).map { _ in Passwords.generated() }).count == 50)
        await passwords.close()
    }

    @Test func behindAProxyTheClientCountsAndCookiesAreSecure() async throws {
        let site = try await ConsoleSite.start {
            $0.signInFailures = 1
            $0.trustedProxies = "127.0.0.1"
        }
        try await site.user("ada", .admin)
        let headers = ["X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"]
        let answer = try await site.signIn("ada", peer: "127.0.0.1", headers: headers)
        #expect(answer.cookies.hasPrefix("__Host-pushmta-session="))
        #expect(answer.headers[values: .setCookie].allSatisfy { $0.contains("; Secure") })
        let audit = try await site.ask(.get, "/audit", cookies: answer.cookies, headers: headers, peer: "127.0.0.1")
        #expect(audit.text.contains("203.0.113.7"))
        // Headers from any other address are ignored.
        let other = try await site.signIn("ada", headers: headers)
        #expect(other.cookies.hasPrefix("pushmta-session="))
        await site.close()
    }
}
