import Content
import PushCore
import Testing

@testable import Console

/// Texts and templates fit together.
@Suite struct CatalogueTests {
    /// A language that lacks a text would show it in English, and a value without a place would not be shown at all.
    @Test(arguments: Language.allCases)
    func everyLanguageHasAllTextsWithTheSamePlaces(language: Language) {
        func places(_ text: String?) -> [Substring] { (text ?? "").matches(of: /\{\d\}/).map(\.output).sorted() }
        for phrase in Phrase.allCases {
            let text = language.texts[phrase]
            #expect(text?.isEmpty == false, "\(language) has no \(phrase)")
            #expect(places(text) == places(English.texts[phrase]), "\(language) \(phrase)")
        }
    }

    /// The names of kinds are the log's own; people read words of their language.
    @Test(arguments: Language.allCases)
    func theAuditLogNamesKindsInWords(language: Language) {
        let kinds = [
            "account", "application", "credential", "host", "key", "list", "mapping", "rate", "seed", "service",
            "template",
        ]
        Language.$current.withValue(language) {
            let catalogue = Catalogue.current
            for kind in kinds {
                let words = catalogue.action("\(kind).remove")
                #expect(words != catalogue.text(.auditRemoved, kind), "\(words)")
                #expect(!words.contains("."), "\(words)")
            }
            for action in ["delivery.add", "delivery.weight", "rate.add", "rate.change", "key.add"] {
                #expect(!catalogue.action(action).contains("."), "\(action)")
            }
        }
    }

    /// The page of a delivery goes on by itself: nobody is sent to load it again.
    @Test(arguments: Language.allCases)
    func whatGoesOnByItselfIsNotToBeLoadedAgain(language: Language) {
        let texts = language.texts
        for phrase in [Phrase.doneStart, .testDone] {
            let text = texts[phrase]?.lowercased() ?? "reload"
            for word in ["reload", "neu", "rechargez"] { #expect(!text.contains(word), "\(text)") }
        }
    }

    /// A key of the content that gets another hint, or a new key, needs it in all languages; a hint that no key has is dead.
    @Test func everyKeyOfAContentHasItsHintInAllLanguages() {
        let fields = Platform.allCases.flatMap { platform -> [String] in
            guard let type = ContentField.templateType(platform), case .choice(let words) = type.input else {
                return []
            }
            let templates = words.flatMap { word in
                let (fields, lists) = ContentField.template(platform, type: word)
                return (fields + lists.flatMap { $0.rows.joined() }).map(\.summary) + lists.map(\.summary)
            }
            return ContentField.fields(platform).map(\.summary) + [type.summary] + templates
        }
        let hints = Set(fields + ApplicationVariable.Kind.allCases.map(\.words))
        #expect(hints.count > 100)
        for hint in hints {
            for language in [Language.german, .french] {
                let text = ContentHints.text(hint, in: language)
                #expect(!text.isEmpty && text != hint, "\(language) has no hint for: \(hint)")
            }
            #expect(ContentHints.text(hint, in: .english) == hint)
        }
        #expect(Set(ContentHints.all.keys) == hints)
        #expect(!ContentHints.all.values.contains { French.spaced($0.french).contains(" :") })
    }

    @Test func everyUnitOfASettingHasItsWordInAllLanguages() {
        #expect(Set(SettingUnits.all.keys) == Set(Settings.definitions.map(\.unit)).subtracting([""]))
        #expect(SettingUnits.text("days", in: .german) == "Tage" && SettingUnits.text("days", in: .english) == "days")
        #expect(SettingUnits.text("requests per second", in: .french) == "requêtes par seconde")
    }

    @Test func frenchSignsKeepTheirSpace() {
        let colon = French.texts[.waitsBecause] ?? ""
        #expect(colon.hasSuffix("\u{202F}:"), "\(colon)")
        #expect(French.texts.values.allSatisfy { !$0.contains(" :") && !$0.contains(" ?") && !$0.contains(" ;") })
    }

    @Test func templatesAskForTextsThatThereAre() throws {
        let pages = try PageRenderer(version: "1")
        #expect(pages.templates.count > 10)
        let names = Set(Phrase.allCases.map(\.rawValue) + ["language"])
        for (template, text) in pages.templates {
            for match in text.matches(of: /\{\{t\.(\w+)\}\}/) {
                #expect(names.contains(String(match.1)), "\(template) asks for \(match.1)")
            }
        }
    }

    /// Of two buttons with the same word no user can know which does what: end a session, or opt a person out.
    @Test(arguments: Language.allCases)
    func noTwoButtonsOfAPageHaveOneWord(language: Language) throws {
        let templates = try PageRenderer(version: "1").templates
        /// A template with what it takes in.
        func whole(_ name: String, depth: Int = 0) -> String {
            guard depth < 5, let text = templates[name] else { return "" }
            let parts = text.matches(of: /\{\{[><]\s*([\w-]+)\s*\}\}/).map { String($0.1) }
            return text + parts.map { whole($0, depth: depth + 1) }.joined()
        }
        var found = 0
        for name in templates.keys where templates[name]?.contains("{{<layout}}") == true {
            let buttons = whole(name).matches(
                of: /(?:<(?:button|a class="button)[^>]*>|data-(?:pause|resume)=")\{\{t\.(\w+)\}\}/
            )
            let phrases = Set(buttons.compactMap { Phrase(rawValue: String($0.1)) })
            found += phrases.count
            let words = Dictionary(grouping: phrases) { language.texts[$0]?.lowercased() ?? "" }
            for (word, phrases) in words where phrases.count > 1 {
                Issue.record("\(language) \(name): \(phrases) are all \"\(word)\"")
            }
        }
        #expect(found > 60, "buttons were looked at: \(found)")
    }

    /// One that only the Enter key presses has no word: read as text, the page would have it twice.
    @Test func aButtonThatNobodySeesSaysNothing() throws {
        for (name, text) in try PageRenderer(version: "1").templates {
            #expect(text.firstMatch(of: /<button[^>]*aria-hidden="true"[^>]*>\{\{t\./) == nil, "\(name)")
        }
    }

    @Test func aFrenchCountAgreesWithItsWord() {
        Language.$current.withValue(.french) {
            let catalogue = Catalogue.current
            #expect(catalogue.counted(.sent) == "envoyés" && catalogue.counted(.canceled) == "annulés")
            #expect(catalogue.counted(.failed) == "en échec" && catalogue.status("sent") == "envoyé")
        }
    }

    @Test func valuesStandInTheirPlaces() {
        let catalogue = Catalogue.english
        #expect(
            catalogue.text(.chartWords, "{1}", "12:03").contains("The busiest minute was 12:03 UTC, with {1} messages.")
        )
        #expect(catalogue.text(.atLeast, "5") == "at least 5")
    }

    /// Drawings are the only values that are not escaped.
    @Test func nothingElseIsShownUnescaped() throws {
        let drawings: Set<String> = ["live", "chart", "bar", "trend"]
        for (template, text) in try PageRenderer(version: "1").templates {
            for match in text.matches(of: /\{\{\{(\w+)\}\}\}/) {
                #expect(drawings.contains(String(match.1)), "\(template) shows \(match.1) as it is")
            }
            #expect(!text.contains("{{&") && !text.contains(" style=") && !text.contains("<style"), "\(template)")
            #expect(text.firstMatch(of: #/ on[a-z]+="/#) == nil, "\(template) has code in it")
        }
    }
}
