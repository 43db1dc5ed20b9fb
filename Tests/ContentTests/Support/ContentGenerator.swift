import TestSupport

@testable import Content
@testable import PushCore

/// Creates random contents from the tables of keys; most are valid.
struct ContentGenerator {
    var random: TestRandom

    private static let names = ["a", "b", "list", "Ünï", "x.y", "vip"]
    private static let words = [
        "x", "Hello ", "\"", "\\", "\n", "\u{1}", "é", "\u{301}", "\u{2028}", "😀", "{", "}", "|", "#", "\u{FEFF}",
        "</script>", "%", "\\{{",
    ]

    /// A content that is usually valid: keys that break a rule for combinations are removed once.
    mutating func content() -> JSONValue {
        let content = unchecked()
        let problems = PushContent.validate(json: JSONText.compact(content))
        if problems.isEmpty || random.oneIn(8) { return content }
        let faults = Set(problems.map(\.key))
        return Self.pruned(content, "", faults)
    }

    /// A value without the keys that have problems.
    private static func pruned(_ value: JSONValue, _ path: String, _ faults: Set<String>) -> JSONValue {
        guard case .object(let entries) = value else { return value }
        return .object(
            entries.compactMap { entry in
                let path = path.isEmpty ? entry.name : "\(path).\(entry.name)"
                let isSection =
                    Platform(rawValue: entry.name) != nil
                    || path.hasPrefix("locales") && path.split(separator: ".").count < 4
                if isSection { return JSONEntry(name: entry.name, value: pruned(entry.value, path, faults)) }
                let isAtFault = faults.contains { $0 == path || $0.hasPrefix(path + ".") || $0.hasPrefix(path + "[") }
                return isAtFault ? nil : entry
            }
        )
    }

    private mutating func unchecked() -> JSONValue {
        var entries = Platform.allCases.filter { _ in !random.oneIn(4) }.map { section($0) }
        if random.oneIn(3) {
            let locales = ["fr", "pt-BR", "de_CH"].map {
                JSONEntry(name: $0, value: .object(entries.map { section(named: $0.name) }))
            }
            entries.append(JSONEntry(name: "locales", value: .object(locales)))
        }
        if random.oneIn(3) {
            let policy = MissingValuePolicy.allCases[random.below(3)].rawValue
            entries.append(JSONEntry(name: "missing", value: .string(policy)))
        }
        if random.oneIn(4) { entries.append(JSONEntry(name: "tracking", value: .boolean(random.oneIn(2)))) }
        return .object(entries)
    }

    private mutating func section(named name: String) -> JSONEntry {
        section(Platform(rawValue: name) ?? .ios)
    }

    private mutating func section(_ platform: Platform) -> JSONEntry {
        var entries: [JSONEntry] = []
        // With all keys at once, nearly every content would break a rule.
        for key in ContentKey.keys(platform) where random.oneIn(9) {
            entries.append(JSONEntry(name: key.name, value: value(key.kind)))
        }
        for key in ["title", "body"] where !entries.contains(where: { $0.name == key }) && !random.oneIn(4) {
            entries.append(JSONEntry(name: key, value: .string(text())))
        }
        return JSONEntry(name: platform.rawValue, value: .object(entries))
    }

    mutating func value(_ kind: ContentKey.Kind) -> JSONValue {
        if random.oneIn(60) { return anything(depth: 3) }
        switch kind {
        case .text: return .string(text())
        case .texts: return .array((0..<random.below(3)).map { _ in .string(text()) })
        case .boolean: return .boolean(!random.oneIn(3))
        case .integer(let range): return .number(integer(range))
        case .personalisedInteger(let range):
            return random.oneIn(2)
                ? .number(integer(range)) : .string("{{\(Self.names[random.below(2)])|\(integer(range))}}")
        case .number(let range):
            return .number("\(range.lowerBound + (range.upperBound - range.lowerBound) / Double(1 + random.below(9)))")
        case .seconds: return .number("\(random.below(9)).\(random.below(1_000))")
        case .secondsList: return .array((0..<random.below(3)).map { _ in .number("\(random.below(9))") })
        case .choice(let words): return .string(words[random.below(words.count)])
        case .integerChoice(let numbers): return .number("\(numbers[random.below(numbers.count)])")
        case .color, .lightColor:
            return .string("#" + (0..<6).map { _ in String(random.below(16), radix: 16) }.joined())
        case .time: return .string(random.oneIn(2) ? "{{a}}" : "2030-01-31T12:00:00Z")
        case .label: return .string(random.oneIn(2) ? "{{a}}" : "spring_sale-1")
        case .word(let words): return .string(random.oneIn(4) ? "{{a}}" : words[random.below(words.count)])
        case .duration: return .string(random.oneIn(4) ? "{{a}}s" : "\(random.below(99)).5s")
        case .durations: return .array((0..<random.below(3)).map { _ in .string("\(random.below(9))s") })
        case .packageName: return .string(random.oneIn(2) ? "{{a}}" : "com.example.app")
        case .strings: return .object([JSONEntry(name: "k", value: .string(text()))])
        case .message: return .object(group(ContentKey.fcmMessage.filter { !$0.name.contains("2") }))
        case .variables: return .object(variables())
        case .object:
            return .object([
                JSONEntry(name: text(), value: anything(depth: 3)), JSONEntry(name: "k", value: .string(text())),
            ])
        case .group(let keys): return .object(group(keys))
        case .textOrGroup(let keys): return random.oneIn(2) ? .string(text()) : .object(group(keys))
        case .items(let keys, let count):
            return .array((0..<(count.lowerBound + random.below(count.count))).map { _ in .object(group(keys)) })
        case .template(let platform):
            let kinds = RichTemplateKind.all(platform)
            let kind = kinds[random.below(kinds.count)]
            return .object([JSONEntry(name: "type", value: .string(kind.rawValue))] + group(kind.keys(platform)))
        }
    }

    private mutating func group(_ keys: [ContentKey]) -> [JSONEntry] {
        keys.compactMap { key in
            key.isRequired || random.oneIn(2) ? JSONEntry(name: key.name, value: value(key.kind)) : nil
        }
    }

    private mutating func variables() -> [JSONEntry] {
        (0..<random.below(4)).map {
            JSONEntry(name: "v\($0)" + Self.words[random.below(Self.words.count)], value: anything(depth: 4))
        }
    }

    mutating func anything(depth: Int) -> JSONValue {
        switch random.below(depth > 0 ? 8 : 5) {
        case 0: return .null
        case 1: return .boolean(random.oneIn(2))
        case 2: return .number(["0", "-0.0", "1e300", "1.50", "12345678901234567890"][random.below(5)])
        case 3, 4, 5: return .string(text())
        case 6: return .array((0..<random.below(4)).map { _ in anything(depth: depth - 1) })
        default:
            return .object(
                (0..<random.below(4)).map { JSONEntry(name: "\($0)" + text(), value: anything(depth: depth - 1)) }
            )
        }
    }

    private mutating func integer(_ range: ClosedRange<Int64>) -> String {
        String(range.lowerBound + Int64(random.below(Int(clamping: range.upperBound - range.lowerBound) + 1)))
    }

    /// A text of words and tags, sometimes with a mistake.
    mutating func text() -> String {
        var text = ""
        var open: [String] = []
        for _ in 0..<random.below(6) {
            let name = Self.names[random.below(Self.names.count)]
            switch random.below(12) {
            case 0: text += "{{\(name)}}"
            case 1: text += "{{ \(name) | \(Self.words[random.below(Self.words.count)]) }}"
            case 2: text += "{{{\(name)}}}"
            case 3, 4:
                text += random.oneIn(2) ? "{{#\(name)}}" : "{{^\(name)}}"
                open.append(name)
            case 5: if let name = open.popLast() { text += "{{/\(name)}}" }
            case 6: if !open.isEmpty { text += "{{.}}" }
            case 7: if random.oneIn(40) { text += ["{{", "{{/x}}", "{{>x}}", "{{}}"][random.below(4)] }
            default: text += Self.words[random.below(Self.words.count)]
            }
        }
        for name in open.reversed() { text += "{{/\(name)}}" }
        return text
    }

    /// A field's value as it may occur in a database.
    mutating func fieldValue() -> [UInt8]? {
        switch random.below(8) {
        case 0: return nil
        case 1: return []
        case 2: return Array(["true", "false", "0", "17", "-5", "3.0"][random.below(6)].utf8)
        case 3: return Array(JSONText.compact(anything(depth: 3)).utf8)
        case 4: return (0..<random.below(9)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        default:
            return Array((0..<random.below(6)).map { _ in Self.words[random.below(Self.words.count)] }.joined().utf8)
        }
    }
}
