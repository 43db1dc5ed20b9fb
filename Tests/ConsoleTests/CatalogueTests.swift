import Content
import PushCore
import Testing

@testable import Console

/// Texts and page templates match.
@Suite struct CatalogueTests {
    /// The texts of a phrase in a language: one, or one for each form of a number.
    private func texts(_ phrase: Phrase, _ language: Language) -> [String] {
        let forms = PluralForm.allCases.compactMap { language.texts["\(phrase.rawValue).\($0.rawValue)"] }
        guard forms.isEmpty else { return forms.count == PluralForm.allCases.count ? forms : [] }
        return [language.texts[phrase.rawValue] ?? ""]
    }

    /// A missing text would be shown in English, and a value without a place would not be shown at all.
    @Test(arguments: Language.allCases)
    func everyLanguageHasAllTextsWithTheSamePlaces(language: Language) {
        func places(_ text: String) -> Set<Substring> { Set(text.matches(of: /\{\d\}/).map(\.output)) }
        for phrase in Phrase.allCases {
            let (own, english) = (texts(phrase, language), texts(phrase, .english))
            #expect(!own.isEmpty && own.allSatisfy { !$0.isEmpty }, "\(language) has no \(phrase)")
            #expect(own.count == english.count, "\(language) \(phrase): forms of a number")
            #expect(own.last.map(places) == english.last.map(places), "\(language) \(phrase)")
            // "One thing" has no number.
            for text in own { #expect(places(text).union(["{0}"]) == places(own.last ?? "").union(["{0}"]), "\(text)") }
        }
    }

    @Test(arguments: Language.allCases)
    func aNumberDecidesTheForm(language: Language) {
        Language.$current.withValue(language) {
            let catalogue = Catalogue.current
            for phrase in Phrase.allCases where texts(phrase, language).count > 1 {
                for count: Int64 in [0, 1, 2, 21, 1_000_000] {
                    let text = catalogue.text(phrase, count: count, "{0}", "{1}")
                    let isOne = count == 1 || language == .french && count == 0
                    #expect(text == texts(phrase, language)[isOne ? 0 : 1], "\(phrase) \(count)")
                }
            }
        }
        #expect(Phrase.allCases.contains { texts($0, language).count > 1 })
    }

    /// A text that is not a phrase, a hint or a unit is never shown.
    @Test(arguments: Language.allCases)
    func noTextIsDead(language: Language) {
        var names = Set(Phrase.allCases.map(\.rawValue))
        names.formUnion(
            Phrase.allCases.flatMap { phrase in PluralForm.allCases.map { "\(phrase.rawValue).\($0.rawValue)" } }
        )
        if language != .english { names.formUnion(hints.union(Settings.definitions.map(\.unit))) }
        #expect(Set(language.texts.keys).subtracting(names).isEmpty)
    }

    /// The log has its own names for kinds; pages show words in the user's language.
    @Test(arguments: Language.allCases)
    func theAuditLogNamesKindsInWords(language: Language) {
        let kinds = [
            "account", "application", "consumer", "credential", "host", "key", "list", "mapping", "rate", "seed",
            "service", "signal", "template", "webhook",
        ]
        Language.$current.withValue(language) {
            let catalogue = Catalogue.current
            for kind in kinds {
                let words = catalogue.action("\(kind).remove")
                #expect(words != catalogue.text(.auditRemoved, kind), "\(words)")
                #expect(!words.contains("."), "\(words)")
            }
            for action in [
                "delivery.add", "delivery.weight", "delivery.analyze", "delivery.reschedule", "delivery.edit",
                "delivery.change", "delivery.samples", "delivery.winner", "delivery.preview", "delivery.follow",
                "delivery.rate",
                "rate.add", "rate.change",
                "key.add", "webhook.secret", "webhook.enable",
                "webhook.disable", "webhook.resend", "recurrence.set",
                "recurrence.start",
                "recurrence.pause", "recurrence.run", "recurrence.remove",
            ] {
                #expect(!catalogue.action(action).contains("."), "\(action)")
            }
        }
    }

    /// A delivery's page updates itself, so no text asks the user to load it again.
    @Test(arguments: Language.allCases)
    func whatGoesOnByItselfIsNotToBeLoadedAgain(language: Language) {
        let texts = language.texts
        for phrase in [Phrase.doneStart, .testDone] {
            let text = texts[phrase.rawValue]?.lowercased() ?? "reload"
            for word in ["reload", "neu", "rechargez"] { #expect(!text.contains(word), "\(text)") }
        }
    }

    /// The descriptions of a content's keys, in English.
    private var hints: Set<String> {
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
        return Set(fields + ApplicationVariable.Kind.allCases.map(\.words))
    }

    /// Every hint of a content's key, and every unit, is translated into all languages.
    @Test func whatIsWrittenBesideKeysAndSettingsIsThereInAllLanguages() {
        #expect(hints.count > 100)
        for word in hints.union(Settings.definitions.map(\.unit)).subtracting([""]) {
            for language in [Language.german, .french] {
                #expect(language.texts[word]?.isEmpty == false, "\(language) has no word for: \(word)")
            }
            #expect(Catalogue.english.word(word) == word)
        }
        for hint in hints {
            #expect(Language.german.texts[hint] != hint && Language.french.texts[hint] != hint, "\(hint)")
        }
        Language.$current.withValue(.french) {
            #expect(Catalogue.current.word("requests per second") == "requêtes par seconde")
        }
    }

    @Test func frenchSignsKeepTheirSpace() {
        let colon = Language.french.texts[Phrase.waitsBecause.rawValue] ?? ""
        #expect(colon.hasSuffix("\u{202F}:"), "\(colon)")
        #expect(
            Language.french.texts.values.allSatisfy { !$0.contains(" :") && !$0.contains(" ?") && !$0.contains(" ;") }
        )
    }

    @Test func linesThatBeginWithABlankGoOn() {
        let file = WordFile("# a = b\n\na = b = c\n    d\ntwo words = {0}\n")
        #expect(file.texts == ["a": "b = c d", "two words": "{0}"])
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

    /// Two buttons with the same label would be ambiguous: does it end a session, or opt a person out?
    @Test(arguments: Language.allCases)
    func noTwoButtonsOfAPageHaveOneWord(language: Language) throws {
        let templates = try PageRenderer(version: "1").templates
        /// A template with the templates that it includes.
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
            let words = Dictionary(grouping: phrases) { language.texts[$0.rawValue]?.lowercased() ?? "" }
            for (word, phrases) in words where phrases.count > 1 {
                Issue.record("\(language) \(name): \(phrases) are all \"\(word)\"")
            }
        }
        #expect(found > 60, "buttons were looked at: \(found)")
    }

    /// A hidden button for the Enter key has no label: a screen reader would read it twice.
    @Test func aButtonThatNobodySeesSaysNothing() throws {
        for (name, text) in try PageRenderer(version: "1").templates {
            #expect(text.firstMatch(of: /<button[^>]*aria-hidden="true"[^>]*>\{\{t\./) == nil, "\(name)")
        }
    }

    @Test func aFrenchCountAgreesWithItsWord() {
        Language.$current.withValue(.french) {
            let catalogue = Catalogue.current
            #expect(catalogue.counted(.sent, 2) == "envoyés" && catalogue.counted(.canceled, 1) == "annulé")
            #expect(catalogue.counted(.failed, 2) == "en échec" && catalogue.status("sent") == "envoyé")
        }
    }

    @Test func valuesStandInTheirPlaces() {
        let catalogue = Catalogue.english
        #expect(catalogue.reason("hold_out")?.contains("hold-out of the experiment") == true)
        #expect(
            catalogue.text(.chartWords, count: 2, "{1}", "12:03 UTC").contains(
                "The busiest minute was 12:03 UTC, with {1} messages."
            )
        )
        #expect(catalogue.text(.atLeast, "5") == "at least 5")
    }

    /// Only drawings are not escaped.
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
