import PushCore
import Store

/// Reads the members of a JSON object and notes their faults, each with its path.
struct JSONReader {
    /// The JSON Pointer of the object.
    let path: String
    /// The faults so far.
    private(set) var faults: [APIProblem.Fault] = []
    private var members: [String: JSONValue] = [:]
    private var names: [String] = []
    private var known: Set<String> = []
    private let isObject: Bool

    /// The maximum number of faults that are reported; more do not help.
    private static let maxFaults = 20

    /// Starts reading a value, which must be an object.
    init(_ value: JSONValue, at path: String = "") {
        self.path = path
        isObject = value.isJSONObject
        guard case .object(let entries) = value else {
            note("", "an object is expected, not \(value.kindName)")
            return
        }
        for entry in entries {
            if members.updateValue(entry.value, forKey: entry.name) != nil {
                note(entry.name, "it occurs twice")
            } else {
                names.append(entry.name)
            }
        }
    }

    /// A text of this kind; nil if it is missing or faulty.
    mutating func text(_ name: String, required: Bool = false, as kind: APIText, mayBeEmpty: Bool = true) -> String? {
        guard let value = value(name, required) else { return nil }
        guard case .string(let text) = value else { return wrongType(name, value, "a string") }
        if let problem = Self.problem(text, kind) { return fail(name, problem) }
        if text.isEmpty, !mayBeEmpty { return fail(name, "it is empty") }
        return text
    }

    /// A time in RFC 3339 format.
    mutating func moment(_ name: String, required: Bool = false) -> String? {
        guard let written = text(name, required: required, as: .moment) else { return nil }
        return Self.isMoment(written) ? written : fail(name, "a time such as 2026-11-21T18:00:00Z is expected")
    }

    /// As above, but the time may be null.
    mutating func momentOrNull(_ name: String, required: Bool = false) -> String? {
        if members[name] == .null {
            known.insert(name)
            return nil
        }
        return moment(name, required: required)
    }

    /// An integer in a range.
    mutating func integer<Number: FixedWidthInteger>(_ name: String, _ range: ClosedRange<Number>) -> Number? {
        guard let value = value(name, false) else { return nil }
        guard case .number(let digits) = value else { return wrongType(name, value, "a whole number") }
        guard let number = JSONNumber.whole(digits).flatMap({ Number(exactly: $0) }), range.contains(number) else {
            return fail(name, "a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return number
    }

    /// A number in a range.
    mutating func number(_ name: String, _ range: ClosedRange<Double>) -> Double? {
        guard let value = value(name, false) else { return nil }
        guard case .number(let digits) = value else { return wrongType(name, value, "a number") }
        guard let number = Double(digits), range.contains(number) else {
            return fail(name, "a number from \(range.lowerBound) to \(Int(range.upperBound)) is expected")
        }
        return number
    }

    mutating func flag(_ name: String) -> Bool? {
        guard let value = value(name, false) else { return nil }
        guard case .boolean(let flag) = value else { return wrongType(name, value, "true or false") }
        return flag
    }

    /// One of the type's raw values.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String, of: Choice.Type) -> Choice? {
        guard let value = value(name, false) else { return nil }
        guard case .string(let word) = value else { return wrongType(name, value, "a string") }
        guard let choice = Choice(rawValue: word) else {
            return fail(name, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")) is expected")
        }
        return choice
    }

    /// A setting of a delivery that is a whole number.
    mutating func integer<Number: FixedWidthInteger>(_ setting: DeliverySetting) -> Number? {
        guard case .integer(let range) = setting.form else { return nil }
        return integer(setting.memberName, Number(clamping: range.lowerBound)...Number(clamping: range.upperBound))
    }

    /// A setting of a delivery that is a number.
    mutating func number(_ setting: DeliverySetting) -> Double? {
        guard case .number(let range) = setting.form else { return nil }
        return number(setting.memberName, range)
    }

    /// A setting of a delivery that is true or false.
    mutating func flag(_ setting: DeliverySetting) -> Bool? { flag(setting.memberName) }

    /// A setting of a delivery that is one of a type's words.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ setting: DeliverySetting) -> Choice? {
        choice(setting.memberName, of: Choice.self)
    }

    /// The category of a delivery.
    mutating func category() -> String? {
        let name = text(DeliverySetting.category.memberName, as: .category)
        if let name, !DeliverySetting.isCategory(name) {
            return fail(DeliverySetting.category.memberName, "\(DeliverySetting.category.expectation) is expected")
        }
        return name
    }

    /// An object with any members.
    mutating func object(_ name: String, required: Bool = false) -> JSONValue? {
        guard let value = value(name, required) else { return nil }
        return value.isJSONObject ? value : wrongType(name, value, "an object")
    }

    /// An object whose names and values are texts of this kind.
    mutating func texts(_ name: String, as kind: APIText) -> [String: String]? {
        guard let value = value(name, false) else { return nil }
        guard case .object(let entries) = value else { return wrongType(name, value, "an object") }
        var texts: [String: String] = [:]
        for entry in entries {
            let place = name + "/" + Self.escaped(entry.name)
            guard case .string(let text) = entry.value else {
                noteRaw(place, "a string is expected, not \(entry.value.kindName)")
                continue
            }
            if let problem = Self.problem(text, kind) ?? Self.problem(entry.name, kind) {
                noteRaw(place, problem)
            } else if texts.updateValue(text, forKey: entry.name) != nil {
                noteRaw(place, "it occurs twice")
            }
        }
        return texts
    }

    /// A list whose number of elements is in a range.
    mutating func list(_ name: String, required: Bool = false, _ count: ClosedRange<Int>) -> [JSONValue]? {
        guard let value = value(name, required) else { return nil }
        guard case .array(let elements) = value else { return wrongType(name, value, "a list") }
        guard count.contains(elements.count) else {
            return fail(name, "it has \(elements.count) elements instead of \(count.lowerBound) to \(count.upperBound)")
        }
        return elements
    }

    /// A list of texts of this kind.
    mutating func textList(_ name: String, required: Bool = false, _ count: ClosedRange<Int>, as kind: APIText)
        -> [String]?
    {
        guard let elements = list(name, required: required, count) else { return nil }
        var texts: [String] = []
        for (place, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                noteRaw("\(name)/\(place)", "a string is expected, not \(element.kindName)")
                continue
            }
            if let problem = Self.problem(text, kind) { noteRaw("\(name)/\(place)", problem) }
            texts.append(text)
        }
        return texts
    }

    /// As above, but the list may be null.
    mutating func textListOrNull(_ name: String, _ count: ClosedRange<Int>, as kind: APIText) -> [String]? {
        if members[name] == .null {
            known.insert(name)
            return nil
        }
        return textList(name, count, as: kind)
    }

    /// Notes a fault of a member, or of the object for "".
    mutating func note(_ name: String, _ problem: String) {
        noteRaw(Self.escaped(name), problem)
    }

    /// Notes a fault of an element of a list.
    mutating func note(_ name: String, _ place: Int, _ problem: String) {
        noteRaw("\(Self.escaped(name))/\(place)", problem)
    }

    /// Adds the faults of another reader, for an object inside this one.
    mutating func add(_ other: [APIProblem.Fault]) {
        faults += other.prefix(max(0, Self.maxFaults - faults.count))
    }

    /// All faults, including unknown members.
    mutating func finish() -> [APIProblem.Fault] {
        for name in names where !known.contains(name) { note(name, "there is no such member") }
        return faults
    }

    /// Throws the noted faults.
    mutating func close() throws(APIProblem) {
        let faults = finish()
        if !faults.isEmpty { throw .invalid(faults) }
    }

    private mutating func value(_ name: String, _ required: Bool) -> JSONValue? {
        known.insert(name)
        guard let value = members[name] else {
            if required, isObject { note(name, "it is missing") }
            return nil
        }
        return value
    }

    private mutating func noteRaw(_ place: String, _ problem: String) {
        guard faults.count < Self.maxFaults else { return }
        faults.append(APIProblem.Fault(path: place.isEmpty ? path : path + "/" + place, problem: problem))
    }

    private mutating func fail<Value>(_ name: String, _ problem: String) -> Value? {
        note(name, problem)
        return nil
    }

    private mutating func wrongType<Value>(_ name: String, _ value: JSONValue, _ expected: String) -> Value? {
        fail(name, "\(expected) is expected, not \(value.kindName)")
    }

    private static func problem(_ text: String, _ kind: APIText) -> String? {
        if text.utf8.count > kind.maxBytes {
            return "it has \(text.utf8.count) bytes; at most \(kind.maxBytes) are allowed"
        }
        return text.utf8.contains(0) ? "it contains the character U+0000, which the database cannot store" : nil
    }

    /// Whether a text is in RFC 3339 format. The database checks whether the day exists. It also accepts other formats,
    /// on which clients should not rely.
    private static func isMoment(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func take(_ form: String) -> Bool {
            for wanted in form.utf8 {
                guard let byte = rest.first else { return false }
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                guard wanted == UInt8(ascii: "0") ? isDigit : byte == wanted else { return false }
                rest.removeFirst()
            }
            return true
        }
        guard take("0000-00-00T00:00:00") else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...6).contains(digits.count) else { return false }
            rest = rest.dropFirst(digits.count)
        }
        if rest.elementsEqual("Z".utf8) { return true }
        guard rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") else { return false }
        rest.removeFirst()
        return take("00:00") && rest.isEmpty
    }

    /// A name escaped for a JSON Pointer (RFC 6901). It is truncated, because clients choose it.
    private static func escaped(_ name: String) -> String {
        var output = ""
        for character in name.unicodeScalars.prefix(100) {
            switch character {
            case "~": output += "~0"
            case "/": output += "~1"
            default: output.unicodeScalars.append(character)
            }
        }
        return output
    }
}

extension JSONValue {
    /// Whether it is an object.
    var isJSONObject: Bool { if case .object = self { true } else { false } }
}

extension JSONValue {
    /// An object.
    static func members(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { JSONEntry(name: $0.0, value: $0.1) })
    }

    static func integer(_ number: some BinaryInteger) -> JSONValue { .number(String(number)) }

    /// A finite number.
    static func double(_ number: Double) -> JSONValue { .number(String(number)) }

    /// A text, or null.
    static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// A text, or null if it is empty.
    static func filledText(_ text: String) -> JSONValue { text.isEmpty ? .null : .string(text) }

    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// A time in RFC 3339 format, in UTC, or null.
    static func time(_ time: DatabaseTime?) -> JSONValue { time.map { .string($0.internetText) } ?? .null }

    /// JSON from the database; null if it is missing or invalid.
    static func stored(_ text: String?) -> JSONValue {
        text.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? .null
    }
}
