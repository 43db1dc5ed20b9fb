import Testing

@testable import Content
@testable import PushCore

/// What a content says on one platform, for the other one.
@Suite struct ContentFormCopyTests {
    private func form() throws -> ContentForm {
        let shared = try ApplicationVariable(name: "screen", type: .text, platform: .android)
        return ContentForm(
            values: [
                "ios.title": "Hello", "ios.subtitle": "Sub", "ios.body": "Now", "ios.media_url": "https://e/i.png",
                "ios.collapse_id": "sale", "ios.click_action": "shop://sale", "ios.variables.screen": "sale",
                "ios.variables.other": "1", "ios.badge": "", "android.body": "Mine", "locales": "fr",
                "locales.fr.ios.title": "Bonjour", "locales.fr.ios.subtitle": "Sous",
            ],
            platforms: [.ios, .android],
            variables: [.android: [shared]]
        )
    }

    @Test func whatMeansTheSameIsCopied() throws {
        let copied = try form().copied(from: .ios, to: .android)
        let android = copied.values.filter { $0.key.contains("android.") }
        #expect(
            android == [
                "android.title": "Hello", "android.body": "Mine", "android.image": "https://e/i.png",
                "android.tag": "sale", "android.variables.screen": "sale", "locales.fr.android.title": "Bonjour",
            ]
        )
        #expect(copied.copied(from: .android, to: .ios).values == copied.values, "both say the same")
    }

    @Test func whatTheOtherPlatformSaysDifferentlyStaysUnlessItIsOverwritten() throws {
        var form = try form()
        form.values["locales.fr.android.title"] = "Salut"
        form.values["android.title"] = "Hello"
        let kept = form.kept(from: .ios, to: .android)
        #expect(kept.map(\.key) == ["body", "title"] && kept.map(\.locale) == ["", "fr"])
        let copied = form.copied(from: .ios, to: .android, overwrites: true)
        #expect(copied.values["android.body"] == "Now" && copied.values["locales.fr.android.title"] == "Bonjour")
        #expect(copied.kept(from: .ios, to: .android).isEmpty)
    }

    @Test func whatTheOtherPlatformLacksIsNamed() throws {
        let form = try form()
        #expect(form.keysMissing(on: .android, of: .ios) == ["click_action", "subtitle", "variables.other"])
        #expect(form.keysMissing(on: .ios, of: .android) == [])
    }
}
