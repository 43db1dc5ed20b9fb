import PushCore
import Testing

@Suite struct LocaleTagTests {
    @Test(
        "One form, however written",
        arguments: [
            ("iw-IL", "he-IL"), ("in_ID", "id-ID"), ("ji", "yi"), ("zh-CN-#Hans", "zh-Hans-CN"),
            ("zh-HK-#Hant", "zh-Hant-HK"),
            ("sr-RS-#Latn", "sr-Latn-RS"), ("no", "nb"), ("nb-NO", "nb-NO"), ("no_NO_NY", "nn-NO"), ("tl", "fil"),
            ("fil-PH", "fil-PH"),
            ("mo", "ro"), ("ro-MD", "ro-MD"), ("sh", "sr-Latn"), ("zh", "zh"), ("zh-CN", "zh-Hans-CN"),
            ("zh_TW", "zh-Hant-TW"),
            ("zh-Hant-CN", "zh-Hant-CN"), ("zh-hans-cn", "zh-Hans-CN"), ("zh__#Hans", "zh-Hans"),
            ("sr-Cyrl-RS", "sr-RS"),
            ("sr_RS@latin", "sr-Latn-RS"), ("fr_FR.UTF-8", "fr-FR"), ("de_DE@euro", "de-DE"),
            ("en_US@rg=gbzzzz", "en-US"),
            ("en-US-u-rg-gbzzzz", "en-US"), ("en_US_POSIX", "en-US"), ("FR", "fr"), ("pt_br", "pt-BR"),
            ("es-419", "es-419"),
            ("sl-rozaj-1994", "sl-rozaj-1994"),
            ("zh-yue-HK", "yue-HK"), ("cmn-Hans-CN", "zh-Hans-CN"), (" fr\u{A0}", "fr"), ("", ""), ("x", "x"),
            ("-", "-"), ("1a", "1a"),
        ]
    )
    func canonical(_ text: String, _ form: String) {
        #expect(LocaleTag.canonical(text) == form)
        #expect(LocaleTag.canonical(form) == form, "once is enough")
        #expect(!form.contains("zh-") || !LocaleTag.mayChange(Array(form.utf8)[...]), "what is stored is quick")
    }

    @Test func beginnings() {
        for (text, form) in [
            ("fr", "fr"), ("zh-CN", "zh-Hans-CN"), ("iw-", "he-"), ("f", "f"), ("zh-H", "zh-H"), ("no", "nb"), ("", ""),
        ] {
            #expect(LocaleTag.canonicalPrefix(text) == form)
        }
    }
}

@Suite struct KeyTextTests {
    @Test func blanksAtTheEndsAreNoPartOfAKey() {
        for text in ["u1", " u1", "u1\u{A0}", "\u{FEFF}u1\t", "\u{200B}\u{2003}u1\r\n"] {
            #expect(KeyText.trimmed(text) == "u1")
        }
        #expect(KeyText.trimmed("a b") == "a b" && KeyText.trimmed(" \u{A0}") == "" && KeyText.trimmed("") == "")
    }

    @Test func rewrittenNumbersAndWordsForNothingAreNoKeys() {
        for text in [
            "1.23457E+11", "1E+15", "4,5e+12", "1.2E11", "1.0e9", "-1.2E+11", "12.5E11", "1234567.0", "NULL", "null",
            "(null)",
            "undefined", "#N/A", "NaN", "None",
        ] {
            #expect(KeyText.problem(userKey: text)?.hasPrefix("user_key is a ") == true, "\(text)")
        }
        for text in [
            "123457000000", "1.5", "E+11", "a1E+11", "1E11", "1e5", "nora", "nullman", "ada+1@example.com", "10.01", "",
        ] {
            #expect(KeyText.problem(userKey: text) == nil, "\(text)")
        }
    }

    @Test func wordsInPlaceOfTokensAreNone() {
        for word in [
            "BLACKLISTED", "undefined", "SERVICE_NOT_AVAILABLE", "fis_auth_error", "[objectObject]",
            String(repeating: "0a", count: 32),
        ] {
            #expect(PushTokenForm.normalised(word, .android) == nil)
            #expect(PushTokenForm.problem(word, .android) != nil)
        }
        #expect(PushTokenForm.normalised("device-token-1", .android) != nil)
        #expect(!PushTokenForm.canBeToken("undefined") && PushTokenForm.canBeToken(String(repeating: "0A", count: 32)))
    }

    @Test func timesHaveAZone() {
        let moment: Int64 = 1_769_846_400_000_000
        for text in [
            "2026-01-31T08:00:00Z", "2026-01-31 10:00:00+02:00", "2026-01-31 08:00:00.000+00", "2026-01-31T03:00-0500",
        ] {
            #expect(ZonedTime(text)?.microsecondsSince1970 == moment, "\(text)")
        }
        for text in ["2026-01-31T08:00:00", "2026-01-31", "now", "", "31.01.2026 08:00"] {
            #expect(ZonedTime(text) == nil)
        }
    }
}
