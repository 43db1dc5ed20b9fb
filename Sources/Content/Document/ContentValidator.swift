import PushCore

/// Checks a content and collects all its problems.
struct ContentValidator {
    private(set) var problems: [ContentProblem] = []
    /// The platforms whose main section has a key with an invalid value.
    private var unsound: Set<Platform> = []

    /// The maximum size in bytes: far more than a payload of 5,120 bytes needs in all locales, and small enough to be
    /// checked quickly.
    static let maxContentSize = 1 << 20
    /// A longer list of problems would not be read.
    private static let maxProblems = 100

    /// The keys of a content.
    private static let keys = Platform.allCases.map(\.rawValue) + ["locales", "missing", "tracking", "$schema"]

    /// The content. If problems were found, it is nil or must not be used.
    mutating func content(json: [UInt8]) -> PushContent? {
        guard json.count <= Self.maxContentSize else {
            add(
                "",
                "it has \(json.count) bytes",
                "shorten it to \(Self.maxContentSize) at most; no payload takes more than 5,120"
            )
            return nil
        }
        let value: JSONValue
        do throws(JSONSyntaxError) {
            // Half a surrogate pair cannot be stored either, so it is read as U+0000, which the check below finds.
            value = try JSONParser.parse(json, halfPair: Self.unstorable)
        } catch {
            add("", "it is not JSON: \(error)", "correct the JSON text")
            return nil
        }
        guard case .object(let entries) = value else {
            add("", "it is \(value.kindName)", #"write an object: {"ios": {…}, "android": {…}}"#)
            return nil
        }
        checkStorable(value, nil)
        checkDuplicates(entries, under: nil)
        var variants: [ContentVariant] = []
        for entry in entries where Platform(rawValue: entry.name) != nil || !Self.keys.contains(entry.name) {
            if let section = section(entry, locale: "", beside: nil) { variants.append(section) }
        }
        if variants.isEmpty, problems.isEmpty {
            add("", "it says nothing for any platform", #"add a section "ios" or "android""#)
        }
        let root = ContentSection(platform: .ios, entries: entries)
        variants += locales(root["locales"], main: variants.map(\.section))
        return PushContent(variants: variants, missing: missing(root), hasTracking: tracking(root))
    }

    mutating func add(_ key: String, _ cause: String, _ remedy: String) {
        // A rule and the layout may find the same problem.
        guard problems.count < Self.maxProblems, !problems.contains(where: { $0.key == key && $0.cause == cause })
        else { return }
        problems.append(ContentProblem(key: key, cause: cause, remedy: remedy))
    }

    /// Checks one entry of a content, or of one of its locales.
    ///
    /// - Parameter main: the main section of the platform, from which a locale's variant inherits.
    mutating func section(_ entry: JSONEntry, locale: String, beside main: ContentSection?) -> ContentVariant? {
        guard let platform = Platform(rawValue: entry.name) else {
            let known = locale.isEmpty ? Self.keys.dropLast() : Platform.allCases.map(\.rawValue)
            addUnknown(entry.name, under: locale.isEmpty ? nil : "locales.\(locale)", known: Array(known))
            return nil
        }
        let path = ContentVariant.path(locale: locale, platform)
        guard case .object(let entries) = entry.value else {
            if entry.value != .null { add(path, "it is \(entry.value.kindName)", "write an object") }
            return nil
        }
        let before = problems.count
        check(entries, keys: ContentKey.keys(platform), path, platform)
        let isSound = problems.count == before
        if locale.isEmpty, !isSound { unsound.insert(platform) }
        let plain = ContentKey.plain(entries, ContentKey.keys(platform))
        guard let main else {
            let section = ContentSection(platform: platform, entries: plain)
            checkWhole(section, path, isSound: isSound)
            return ContentVariant(locale: locale, section: section)
        }
        let section = main.variant(plain)
        checkVariant(
            section,
            path,
            says: Set(plain.map(\.name)),
            main: main,
            isSound: isSound && !unsound.contains(platform)
        )
        return ContentVariant(locale: locale, section: section)
    }

    /// Checks the combination of a variant's own keys and those that it inherits. Problems that the main section has
    /// itself are reported only there.
    private mutating func checkVariant(
        _ section: ContentSection,
        _ path: String,
        says own: Set<String>,
        main: ContentSection,
        isSound: Bool
    ) {
        var (ofMain, ofVariant) = (ContentValidator(), ContentValidator())
        ofMain.checkWhole(main, main.platform.rawValue, isSound: isSound)
        ofVariant.checkWhole(section, path, isSound: isSound)
        let known = Set(ofMain.problems.map { "\($0.key.dropFirst(main.platform.rawValue.count))\n\($0.cause)" })
        for problem in ofVariant.problems {
            let rest = problem.key.dropFirst(path.count)
            if known.contains("\(rest)\n\(problem.cause)") { continue }
            let name = rest.dropFirst().prefix { $0 != "." && $0 != "[" }
            let isTaken = section.has(String(name)) && !own.contains(String(name))
            let source = "it is inherited from \(main.platform.rawValue).\(name), and null removes it here"
            add(problem.key, problem.cause, isTaken ? "\(problem.remedy); \(source)" : problem.remedy)
        }
    }

    /// Checks the entries of an object against its allowed keys.
    mutating func check(_ entries: [JSONEntry], keys: [ContentKey], _ path: String, _ platform: Platform) {
        checkDuplicates(entries, under: path)
        for entry in entries {
            guard let key = keys.first(where: { $0.name == entry.name }) else {
                addUnknown(entry.name, under: path, known: keys.map(\.name))
                continue
            }
            if entry.value != .null { check(entry.value, of: key, Self.path(path, key.name), platform) }
        }
        let section = ContentSection(platform: platform, entries: entries)
        for key in keys where key.isRequired && !section.has(key.name) {
            add(Self.path(path, key.name), "it is missing", "write \(Self.expectation(key.kind))")
        }
    }

    mutating func checkDuplicates(_ entries: [JSONEntry], under parent: String?) {
        var seen: Set<String> = []
        var reported: Set<String> = []
        for name in entries.map(\.name) where !seen.insert(name).inserted && reported.insert(name).inserted {
            add(Self.path(parent, name), "it is written more than once", "keep one of them")
        }
    }

    mutating func addUnknown(_ name: String, under parent: String?, known: [String]) {
        guard problems.count < Self.maxProblems else { return }
        // A longer name is not a typing error, and comparing it with every key takes long.
        let nearest = name.utf8.count > 64 ? nil : NearestName.nearest(to: name, among: known)
        let advice =
            nearest.map { "the nearest known key is \"\($0)\"" } ?? "known keys are: \(known.joined(separator: ", "))"
        add(Self.path(parent, name), "this key is unknown", advice)
    }

    /// A key's full path, shortened if the name is as long as a text.
    static func path(_ parent: String?, _ name: String) -> String {
        let short = name.count > 64 ? name.prefix(64) + "…" : name[...]
        return parent.map { "\($0).\(short)" } ?? String(short)
    }
}

extension ContentValidator {
    /// Checks the variants for locales.
    mutating func locales(_ value: JSONValue?, main: [ContentSection]) -> [ContentVariant] {
        guard let value else { return [] }
        guard case .object(let locales) = value else {
            add("locales", "it is \(value.kindName)", #"write an object: {"fr": {"ios": {…}}}"#)
            return []
        }
        var variants: [ContentVariant] = []
        var seen: Set<[UInt8]> = []
        for locale in locales {
            let path = Self.path("locales", locale.name)
            guard isLocale(locale.name, path), locale.value != .null else { continue }
            if !seen.insert(LocaleMatcher.normalised(locale.name)).inserted {
                add(
                    path,
                    "it is written more than once",
                    "keep one of them; fr-CA, fr_CA and fr-ca are the same, and so are he and iw"
                )
            }
            guard case .object(let entries) = locale.value else {
                add(path, "it is \(locale.value.kindName)", #"write an object: {"ios": {…}, "android": {…}}"#)
                continue
            }
            checkDuplicates(entries, under: path)
            for entry in entries {
                let everybodys = main.first { $0.platform.rawValue == entry.name }
                guard let variant = section(entry, locale: locale.name, beside: everybodys) else { continue }
                variants.append(variant)
                if everybodys == nil {
                    let platform = variant.section.platform.rawValue
                    add(
                        "\(path).\(platform)",
                        "the content has no section \"\(platform)\" for people with another locale",
                        "add the section \"\(platform)\" next to \"locales\""
                    )
                }
            }
        }
        return variants
    }

    /// Reads the policy for fields without a value.
    mutating func missing(_ root: ContentSection) -> MissingValuePolicy? {
        guard let value = root["missing"] else { return nil }
        if case .string(let word) = value, let policy = MissingValuePolicy(rawValue: word) { return policy }
        let words = MissingValuePolicy.allCases.map(\.rawValue)
        add("missing", "it is not a known policy", "write \(Self.list(words))")
        return nil
    }

    /// Reads whether messages carry tracking ids.
    mutating func tracking(_ root: ContentSection) -> Bool {
        guard let value = root["tracking"] else { return true }
        guard case .boolean(let hasTracking) = value else {
            add("tracking", "it is \(value.kindName)", "write true or false")
            return true
        }
        return hasTracking
    }

    /// Whether a name is a locale: a language and further tags (BCP 47, its general form only).
    private mutating func isLocale(_ name: String, _ path: String) -> Bool {
        let tags = name.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        let isLocale =
            name.utf8.count <= LocaleMatcher.maxLocaleLength && (2...8).contains(tags.first?.utf8.count ?? 0)
            && tags.allSatisfy { tag in
                (1...8).contains(tag.utf8.count) && tag.utf8.allSatisfy(Self.isLetterOrDigit)
            }
        if !isLocale {
            add(path, "it is not a locale", "write a language such as fr, or a language and region such as fr-CA")
        }
        return isLocale
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension ContentValidator {
    /// PostgreSQL's text and jsonb cannot store U+0000 ("JSON Types").
    static let unstorable: Character = "\u{0}"

    /// Checks that the database can store every name and every text.
    mutating func checkStorable(_ value: JSONValue, _ path: String?) {
        switch value {
        case .string(let text):
            if Self.isUnstorable(text) { addUnstorable(path ?? "") }
        case .array(let elements):
            for element in elements { checkStorable(element, path) }
        case .object(let entries):
            for entry in entries {
                let isBad = Self.isUnstorable(entry.name)
                let path = Self.path(path, isBad ? entry.name.filter { !Self.isUnstorable(String($0)) } : entry.name)
                if isBad { addUnstorable(path) }
                checkStorable(entry.value, path)
            }
        case .null, .boolean, .number: break
        }
    }

    private static func isUnstorable(_ text: String) -> Bool { text.utf8.contains(0) }

    private mutating func addUnstorable(_ path: String) {
        add(path, "it has \\u0000 or half a surrogate pair in it, which the database cannot store", "leave it out")
    }
}

extension ContentValidator {
    /// What to write for a kind of value.
    static func expectation(_ kind: ContentKey.Kind) -> String {
        switch kind {
        case .text: "a string"
        case .texts: "a list of strings"
        case .boolean: "true or false"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .personalisedInteger(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound), or a string with fields that results in one"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .seconds: "a number of seconds"
        case .secondsList: "a list of numbers of seconds"
        case .choice(let words): list(words)
        case .integerChoice(let numbers): list(numbers.map(String.init))
        case .color, .lightColor: "a string: #rrggbb"
        case .time: "a string: 2030-01-31T12:00:00Z"
        case .label: "a string of letters, digits and -_.~%"
        case .word(let words): list(words)
        case .duration(let limit): "a string of seconds from \"0s\" to \"\(Int(limit))s\", such as \"3.5s\""
        case .durations: "a list of strings of seconds, such as \"0.5s\""
        case .packageName: "a package name, such as com.example.app"
        case .strings: "an object whose values are strings"
        case .variables: "an object of names and values"
        case .object, .group, .template, .message: "an object"
        case .textOrGroup(let keys): "a string, or an object with \(list(keys.map(\.name), last: " and "))"
        case .items: "a list of objects"
        }
    }

    static func list(_ words: [String], last word: String = " or ") -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + word + last
    }

    /// The beginning of a text, for a message.
    static func short(_ text: String) -> Substring { text.prefix(64) }

    /// Whether a text is `#` and six hexadecimal digits.
    static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#")
            && text.utf8.dropFirst().allSatisfy { HexDigit.value($0) != nil }
    }

    /// Whether a text is a color with two more digits.
    static func isColorWithOpacity(_ text: String) -> Bool {
        text.utf8.count == 9 && isColor(String(text.dropLast(2)))
            && text.utf8.suffix(2).allSatisfy { HexDigit.value($0) != nil }
    }

    /// FCM accepts labels that match `^[a-zA-Z0-9-_.~%]{1,50}$` (FCM v1, `AndroidFcmOptions.analytics_label`).
    static let maxLabelLength = 50

    /// Whether FCM accepts a text as a label.
    static func isLabel(_ text: String) -> Bool {
        (1...maxLabelLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "-_.~%".utf8.contains($0) }
    }
}
