import HTTPTypes
import PushCore
import Store
import Testing

@testable import Console

/// Pages in the user's language.
@Suite struct LanguageTests {
    @Test(arguments: [
        (nil, Language.english), ("", .english), ("de", .german), ("de-CH,de;q=0.9,en;q=0.8", .german),
        ("fr-CA;q=0.4, de;q=0.7", .german), ("it, fr;q=0.5", .french), ("en-US,de", .english), ("de;q=0", .english),
        ("nl,*;q=0.5", .english), (";;,=,q=", .english), ("DE", .german),
    ])
    func theBrowserAsksForOne(header: String?, language: Language) {
        #expect(Language(accepted: header) == language)
    }

    @Test func theBrowsersLanguageCountsUntilAPersonChooses() async throws {
        let site = try await ConsoleSite.start()
        try await site.user("ada", .read)
        let german = ["Accept-Language": "de-DE,de;q=0.9"]
        let door = try await site.ask(.get, "/sign-in", headers: german)
        #expect(door.text.contains("<html lang=\"de\">") && door.text.contains("Passwort"))
        // Without a session, the menu has the sign-in form's token.
        let form = ["token": door.formToken, "language": "fr", "next": "/alarms"]
        let chosen = try await site.ask(.post, "/sign-in/language", form: form, cookies: door.cookies, headers: german)
        #expect(chosen.status == .seeOther && chosen.headers[.location] == "/sign-in?next=/alarms")
        let cookie = try #require(chosen.headers[values: .setCookie].first)
        #expect(cookie.hasPrefix("pushmta-language=fr; ") && cookie.contains("HttpOnly"))
        let french = try await site.ask(.get, "/sign-in", cookies: "pushmta-language=fr", headers: german)
        #expect(french.text.contains("<html lang=\"fr\">") && french.text.contains("Mot de passe"))
        // This includes paths without a route.
        let nothing = try await site.ask(.get, "/nothing", cookies: "pushmta-language=fr", headers: german)
        #expect(nothing.status == .notFound && nothing.text.contains("Il n’y a rien ici"))
        await site.close()
    }

    @Test func whoHasSignedInChoosesAndComesBack() async throws {
        let site = try await ConsoleSite.start()
        let ada = try await site.session(.read)
        let page = try await ada.get("/deliveries?state=paused")
        #expect(page.text.contains("<html lang=\"en\">") && page.text.contains("value=\"/deliveries?state=paused\""))
        func choose(_ language: String, token: String, next: String = "/alarms") async throws -> ConsoleAnswer {
            let form = ["token": token, "language": language, "next": next]
            return try await site.ask(.post, "/language", form: form, cookies: ada.cookies)
        }
        #expect(try await choose("de", token: ada.token).headers[.location] == "/alarms")
        #expect(try await choose("de", token: ada.token, next: "//evil.example").headers[.location] == "/")
        #expect(try await choose("de", token: "0").status == .forbidden)
        #expect(try await choose("xx", token: ada.token).status == .badRequest)
        let cookies = ada.cookies + "; pushmta-language=de"
        for path in ["/", "/deliveries", "/alarms", "/hosts"] {
            let text = try await site.ask(.get, path, cookies: cookies).text
            #expect(text.contains("<html lang=\"de\">") && text.contains("Abmelden"), "\(path)")
        }
        // The live part is shared by users of the same language only.
        #expect(try await site.ask(.get, "/", cookies: cookies).text.contains("Die letzte Stunde"))
        #expect(try await ada.get("/").text.contains("The last hour"))
        await site.close()
    }

    @Test func figuresHaveTheFormOfTheLanguage() {
        func shown() -> [String] {
            [
                Figures.count(1_234_567), Figures.short(4_560_000), Figures.percent(1, of: 100_000),
                Figures.bytes(1_536), Figures.duration(90_000), Figures.day("2026-11-24"), Figures.oneDigit(0.5),
            ]
        }
        #expect(shown() == ["1,234,567", "4.56 M", "<0.1 %", "1.50 KiB", "1 d 1 h", "2026-11-24", "0.5"])
        Language.$current.withValue(.german) {
            #expect(shown() == ["1.234.567", "4,56 Mio.", "<0,1 %", "1,50 KiB", "1 d 1 h", "24.11.2026", "0,5"])
        }
        Language.$current.withValue(.french) {
            let space = "\u{202F}"
            #expect(
                shown() == [
                    "1\(space)234\(space)567", "4,56 M", "<0,1 %", "1,50 Kio", "1 j 1 h", "24/11/2026", "0,5",
                ]
            )
        }
    }
}
