import PushCore
import Testing

@Suite("Tokens, locales and time zones that people give")
struct GivenTokenTests {
    private static let hex = String(repeating: "aB", count: 32)

    @Test("A token is one of its platform, and what is wrong with it is said without it")
    func tokens() {
        #expect(PushTokenForm.problem(Self.hex, .ios) == nil)
        #expect(PushTokenForm.problem(String(repeating: "0", count: 200), .ios) == nil)
        let android = String(repeating: "x:Y_-", count: 30)
        #expect(PushTokenForm.problem(android, .android) == nil)
        let wrong: [(String, Platform)] = [
            (Self.hex, .android), (android, .ios), (String(Self.hex.dropLast(2)), .ios), (Self.hex + "0", .ios),
            (String(repeating: "0", count: 202), .ios), ("short", .android), (android + " ", .android),
            (String(repeating: "x", count: 2_001), .android), ("", .ios), ("", .android),
        ]
        for (token, platform) in wrong {
            let problem = PushTokenForm.problem(token, platform)
            #expect(problem != nil && (token.isEmpty || problem?.contains(token) == false), "\(token) \(platform)")
        }
    }

    @Test("Whoever is named by a token only is looked for on both platforms")
    func anyPlatform() {
        for token in ["70757368546F6B656E", Self.hex, "token-of-a-device"] { #expect(PushTokenForm.canBeToken(token)) }
        for token in ["abc", "", "a b c d e f", String(repeating: "x", count: 2_001), "日本日本日本"] {
            #expect(!PushTokenForm.canBeToken(token), "\(token)")
        }
    }

    @Test("Locales and time zones have a form, and an empty one is none given")
    func settings() {
        for locale in ["", "fr", "zh-Hant-TW", "en_US@rg=gbzzzz"] {
            #expect(DeviceSetting.problem(locale: locale) == nil)
        }
        for locale in ["!!", "1fr", "fr CA", String(repeating: "a", count: 65)] {
            #expect(DeviceSetting.problem(locale: locale) != nil, "\(locale)")
        }
        for zone in ["", "Europe/Paris", "Etc/GMT+2"] { #expect(DeviceSetting.problem(timeZone: zone) == nil) }
        for zone in ["+02:00", "Europe Paris", "\u{1B}"] { #expect(DeviceSetting.problem(timeZone: zone) != nil) }
    }
}
