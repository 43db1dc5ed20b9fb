import Testing

@testable import Console

/// Texts and templates fit together.
@Suite struct CatalogueTests {
    @Test func everyLanguageHasAllTexts() {
        for phrase in Phrase.allCases { #expect(English.texts[phrase]?.isEmpty == false, "\(phrase)") }
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
