import HTTPTypes
import PushCore
import Store
import TestSupport
import Testing

@testable import Console

/// Signing in, sessions and locks, with a clock that the test moves.
@Suite struct SessionTests {
    @Test func whoSignsInSeesPagesUntilSigningOut() async throws {
        let site = try await ConsoleSite.start()
        try await site.user("ada", .read)
        #expect(try await site.ask(.get, "/").headers[.location] == "/sign-in?next=/&over=1")
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
        #expect(try await site.ask(.get, "/", cookies: answer.cookies).status == .seeOther)
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
        // A page that reads again by itself is no use.
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
        // Another address does not help, and neither does it harm others there.
        #expect(try await site.signIn("ada", peer: "192.0.2.9").status == .unauthorized)
        try await site.user("bob", .read)
        #expect(try await site.signIn("bob", peer: "192.0.2.9").status == .seeOther)
        site.pass(minutes: 16)
        #expect(try await site.signIn("ada").status == .seeOther)
        // The address has four times as many, over all names.
        for number in 0..<12 { _ = try await site.signIn("guess \(number)", password: "wrong", peer: "192.0.2.77") }
        #expect(try await site.signIn("bob", peer: "192.0.2.77").text.contains("too many failures"))
        // What a locked address tries counts for no name.
        for _ in 0..<5 { _ = try await site.signIn("bob", password: "wrong", peer: "192.0.2.77") }
        #expect(try await site.signIn("bob").status == .seeOther)
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
        // Nobody else is believed.
        let other = try await site.signIn("ada", headers: headers)
        #expect(other.cookies.hasPrefix("pushmta-session="))
        await site.close()
    }
}
