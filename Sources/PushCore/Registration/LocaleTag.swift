/// Brings locales into one form: he for iw, zh-Hans-CN for Android's zh-CN-#Hans, nb for no, sr-Latn-RS for POSIX'
/// sr_RS@latin.
///
/// Stored locales, the variants of a content, and the values of filters all use this form, so that they match. It
/// follows BCP 47 in outline: language, script, region, variants. Extensions only say how something is displayed, and
/// are dropped. For Chinese the script is always added if the region implies it, as a variant for zh-Hant is for Taiwan
/// and Hong Kong. The usual script of a language is dropped.
package enum LocaleTag {
    /// Obsolete and alternative names of languages (CLDR, `languageAlias`; Java and Android keep iw, in and ji).
    private static let aliases: [String: String] = [
        "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "no": "nb", "tl": "fil", "mo": "ro", "sh": "sr", "cmn": "zh",
    ]
    /// The usual scripts of languages that are written in several scripts (CLDR, `likelySubtags`).
    private static let usualScripts: [String: String] = [
        "sr": "Cyrl", "az": "Latn", "uz": "Latn", "bs": "Latn", "kk": "Cyrl", "mn": "Cyrl", "pa": "Guru", "ms": "Latn",
    ]
    private static let traditionalRegions: Set<String> = ["TW", "HK", "MO"]
    /// The names of scripts that POSIX writes after an `@`.
    private static let modifierScripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"]

    /// A locale in the one form. A text that cannot be a locale is only trimmed.
    package static func canonical(_ text: String) -> String {
        let text = KeyText.trimmed(text)
        return parts(text).map { $0.text } ?? text
    }

    /// The prefix that a filter compares with stored locales: zh-CN finds zh-Hans-CN. An incomplete tag stays as it is.
    package static func canonicalPrefix(_ text: String) -> String {
        let isCut = text.last.map(isSeparator) == true
        let base = isCut ? String(text.dropLast()) : text
        guard let parts = parts(base), parts.isWhole else { return text }
        return parts.text + (isCut ? "-" : "")
    }

    /// Whether ``canonical(_:)`` may change a locale, so that it is worth its cost. For most stored locales it is
    /// false.
    package static func mayChange(_ locale: ArraySlice<UInt8>) -> Bool {
        let language = locale.prefix { $0 != UInt8(ascii: "-") }
        if locale.contains(where: { "_#.@".utf8.contains($0) }) { return true }
        let name = String(decoding: language.prefix(4).map { $0 | 0x20 }, as: UTF8.self)
        if name == "zh" {
            let next = locale.dropFirst(language.count + 1).prefix { $0 != UInt8(ascii: "-") }
            return language.count < locale.count && next.count != 4
        }
        return aliases[name] != nil || usualScripts[name] != nil
    }

    private struct Parts {
        var language: String
        var script = ""
        var region = ""
        var variants: [String] = []
        /// Whether the whole text was understood.
        var isWhole = true

        var text: String {
            ([language, script, region] + variants).filter { !$0.isEmpty }.joined(separator: "-")
        }
    }

    private static func isSeparator(_ character: Character) -> Bool { character == "-" || character == "_" }

    private static func parts(_ text: String) -> Parts? {
        let base = text.prefix { $0 != "." && $0 != "@" }
        let tags = base.split(whereSeparator: isSeparator)
        guard let first = tags.first, (2...8).contains(first.utf8.count), isLetters(first) else { return nil }
        var parts = Parts(language: first.lowercased())
        for tag in tags.dropFirst() where !add(tag, to: &parts) {
            parts.isWhole = false
            break
        }
        if base.endIndex < text.endIndex {
            parts.isWhole = false
            let modifier = text[base.endIndex...].split(separator: "@").last.map(String.init)?.lowercased() ?? ""
            if parts.script.isEmpty { parts.script = modifierScripts[modifier] ?? "" }
        }
        settle(&parts)
        return parts
    }

    /// Adds a subtag after the language; false for an extension or an invalid subtag.
    private static func add(_ tag: Substring, to parts: inout Parts) -> Bool {
        // Java writes a number sign before a script.
        let word = tag.first == "#" ? tag.dropFirst() : tag
        let isBare = parts.script.isEmpty && parts.region.isEmpty && parts.variants.isEmpty
        switch word.utf8.count {
        case 4 where isLetters(word) && parts.script.isEmpty:
            parts.script = word.prefix(1).uppercased() + word.dropFirst().lowercased()
        case 2 where isLetters(word) && parts.region.isEmpty: parts.region = word.uppercased()
        // Java's code for Nynorsk before it had its own.
        case 2 where parts.language == "no" && word.uppercased() == "NY": parts.language = "nn"
        case 3 where isDigits(word) && parts.region.isEmpty: parts.region = String(word)
        // An extended language, as in zh-yue.
        case 3 where isLetters(word) && isBare: parts.language = word.lowercased()
        // CLDR writes it as an extension, en-US-u-va-posix, so it is dropped.
        case 5 where word.lowercased() == "posix": break
        case 5...8 where isAlphanumeric(word), 4 where isAlphanumeric(word) && isDigits(word.prefix(1)):
            parts.variants.append(word.lowercased())
        default: return false
        }
        return true
    }

    private static func settle(_ parts: inout Parts) {
        if parts.language == "sh", parts.script.isEmpty { parts.script = "Latn" }
        parts.language = aliases[parts.language] ?? parts.language
        if parts.language == "zh", parts.script.isEmpty, !parts.region.isEmpty {
            parts.script = traditionalRegions.contains(parts.region) ? "Hant" : "Hans"
        }
        if usualScripts[parts.language] == parts.script { parts.script = "" }
    }

    private static func isLetters(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
    }

    private static func isDigits(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isAlphanumeric(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) }
    }
}
