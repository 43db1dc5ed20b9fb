import HTTPTypes
import HummingbirdCore
import NIOCore
import PushCore
import Store

/// Reads the members of a JSON object and notes all that is wrong with them, each with its path.
struct JSONReader {
    /// The JSON Pointer of the object.
    let path: String
    /// What is wrong so far.
    private(set) var faults: [APIProblem.Fault] = []
    private var members: [String: JSONValue] = [:]
    private var names: [String] = []
    private var known: Set<String> = []
    private let isObject: Bool

    /// More faults than these help nobody.
    private static let mostFaults = 20

    /// Begins to read a value, which has to be an object.
    init(_ value: JSONValue, at path: String = "") {
        self.path = path
        isObject = value.isJSONObject
        guard case .object(let entries) = value else {
            note("", "an object is expected, not \(value.kindName)")
            return
        }
        for entry in entries {
            if members.updateValue(entry.value, forKey: entry.name) != nil {
                note(entry.name, "it is there twice")
            } else {
                names.append(entry.name)
            }
        }
    }

    /// A text of at most so many bytes; nil if it is not there or was noted.
    mutating func text(_ name: String, required: Bool = false, most: Int, mayBeEmpty: Bool = true) -> String? {
        guard let value = value(name, required) else { return nil }
        guard case .string(let text) = value else { return wrongType(name, value, "a string") }
        if let problem = Self.problem(text, most: most) { return fail(name, problem) }
        if text.isEmpty, !mayBeEmpty { return fail(name, "it is empty") }
        return text
    }

    /// The same, where null says as much as a member that is not there.
    mutating func textOrNull(_ name: String, most: Int) -> String? {
        if members[name] == .null {
            known.insert(name)
            return nil
        }
        return text(name, most: most)
    }

    /// A whole number in a range.
    mutating func integer<Number: FixedWidthInteger>(_ name: String, _ range: ClosedRange<Number>) -> Number? {
        guard let value = value(name, false) else { return nil }
        guard case .number(let digits) = value else { return wrongType(name, value, "a whole number") }
        guard let number = Self.whole(digits, Number.self), range.contains(number) else {
            return fail(name, "a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return number
    }

    /// A whole number, however it is written: to JSON Schema 7.0 is the same as 7.
    private static func whole<Number: FixedWidthInteger>(_ digits: String, _: Number.Type) -> Number? {
        if let number = Number(digits) { return number }
        // Beyond that not each whole number is one of these.
        guard let value = Double(digits), abs(value) <= 0x1p53 else { return nil }
        return Number(exactly: value)
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

    /// One of the type's words.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String, of: Choice.Type) -> Choice? {
        guard let value = value(name, false) else { return nil }
        guard case .string(let word) = value else { return wrongType(name, value, "a string") }
        guard let choice = Choice(rawValue: word) else {
            return fail(name, "one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")) is expected")
        }
        return choice
    }

    /// An object, whatever is in it.
    mutating func object(_ name: String, required: Bool = false) -> JSONValue? {
        guard let value = value(name, required) else { return nil }
        return value.isJSONObject ? value : wrongType(name, value, "an object")
    }

    /// An object whose values are texts, of so many bytes altogether at most.
    mutating func texts(_ name: String, most: Int) -> [String: String]? {
        guard let value = value(name, false) else { return nil }
        guard case .object(let entries) = value else { return wrongType(name, value, "an object") }
        var texts: [String: String] = [:]
        for entry in entries {
            let place = name + "/" + Self.escaped(entry.name)
            guard case .string(let text) = entry.value else {
                noteRaw(place, "a string is expected, not \(entry.value.kindName)")
                continue
            }
            if let problem = Self.problem(text, most: most) ?? Self.problem(entry.name, most: most) {
                noteRaw(place, problem)
            } else if texts.updateValue(text, forKey: entry.name) != nil {
                noteRaw(place, "it is there twice")
            }
        }
        return texts
    }

    /// A list of so many values.
    mutating func list(_ name: String, required: Bool = false, _ count: ClosedRange<Int>) -> [JSONValue]? {
        guard let value = value(name, required) else { return nil }
        guard case .array(let elements) = value else { return wrongType(name, value, "a list") }
        guard count.contains(elements.count) else {
            return fail(name, "it has \(elements.count) elements; \(count.lowerBound) to \(count.upperBound) are taken")
        }
        return elements
    }

    /// A list of texts, each of so many bytes at most.
    mutating func textList(_ name: String, required: Bool = false, _ count: ClosedRange<Int>, most: Int) -> [String]? {
        guard let elements = list(name, required: required, count) else { return nil }
        var texts: [String] = []
        for (place, element) in elements.enumerated() {
            guard case .string(let text) = element else {
                noteRaw("\(name)/\(place)", "a string is expected, not \(element.kindName)")
                continue
            }
            if let problem = Self.problem(text, most: most) { noteRaw("\(name)/\(place)", problem) }
            texts.append(text)
        }
        return texts
    }

    /// Notes what is wrong with a member, or with the object for "".
    mutating func note(_ name: String, _ problem: String) {
        noteRaw(Self.escaped(name), problem)
    }

    /// Adds what another reader has noted, of an object inside of this one.
    mutating func add(_ other: [APIProblem.Fault]) {
        faults += other.prefix(max(0, Self.mostFaults - faults.count))
    }

    /// All faults, those of members that nobody asked for included.
    mutating func finish() -> [APIProblem.Fault] {
        for name in names where !known.contains(name) { note(name, "there is no such member") }
        return faults
    }

    /// Throws what was noted.
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
        guard faults.count < Self.mostFaults else { return }
        faults.append(APIProblem.Fault(path: place.isEmpty ? path : path + "/" + place, problem: problem))
    }

    private mutating func fail<Value>(_ name: String, _ problem: String) -> Value? {
        note(name, problem)
        return nil
    }

    private mutating func wrongType<Value>(_ name: String, _ value: JSONValue, _ expected: String) -> Value? {
        fail(name, "\(expected) is expected, not \(value.kindName)")
    }

    private static func problem(_ text: String, most: Int) -> String? {
        if text.utf8.count > most { return "it has \(text.utf8.count) bytes; \(most) are taken" }
        return text.utf8.contains(0) ? "it holds the character U+0000, which no database stores" : nil
    }

    /// A name in a JSON Pointer (RFC 6901), cut where it is long: it comes from outside.
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

/// Reads the JSON object that a request carries.
struct APIBody {
    let mostBytes: Int

    /// The object; an empty one where none has to be. Throws ``APIProblem``.
    func read(_ request: Request, _ wanted: APIRoute.Body) async throws -> JSONValue {
        var announced: Int?
        if let length = request.headers[.contentLength].flatMap({ Int($0) }) {
            guard length <= mostBytes else { throw APIProblem.tooLarge(limit: mostBytes) }
            announced = length
        }
        let bytes: ByteBuffer
        do {
            bytes = try await request.body.collect(upTo: mostBytes)
        } catch is NIOTooManyBytesError {
            throw APIProblem.tooLarge(limit: mostBytes)
        }
        guard announced == nil || announced == bytes.readableBytes else { throw APIProblem.truncatedBody }
        if bytes.readableBytes == 0 {
            if case .required = wanted { throw APIProblem.malformed("it is empty") }
            return .object([])
        }
        guard Self.isJSON(request.headers[.contentType]) else { throw APIProblem.wrongContentType }
        let value = try Self.parse(Array(bytes.readableBytesView))
        if wanted == .none {
            var reader = JSONReader(value)
            try reader.close()
        }
        return value
    }

    static func parse(_ bytes: [UInt8]) throws(APIProblem) -> JSONValue {
        // The parser would repair it: what is stored would not be what was sent.
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .malformed("it is not UTF-8") }
        do {
            return try JSONValue(parsing: bytes, refusesHalfPairs: true)
        } catch {
            throw .malformed(error.description)
        }
    }

    private static func isJSON(_ type: String?) -> Bool {
        guard let word = type?.split(separator: ";").first else { return false }
        return word.split(separator: " ").joined().lowercased() == "application/json"
    }
}

extension JSONValue {
    /// An object.
    static func members(_ members: (String, JSONValue)...) -> JSONValue {
        .object(members.map { JSONEntry(name: $0.0, value: $0.1) })
    }

    static func integer(_ number: some BinaryInteger) -> JSONValue { .number(String(number)) }

    /// A text, or null.
    static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    /// A text, or null for an empty one.
    static func filledText(_ text: String) -> JSONValue { text.isEmpty ? .null : .string(text) }

    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    /// A moment as RFC 3339 has it, in UTC, or null.
    static func time(_ time: DatabaseTime?) -> JSONValue { time.map { .string($0.internetText) } ?? .null }

    /// JSON of the database's; null for what is none.
    static func stored(_ text: String?) -> JSONValue {
        text.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? .null
    }
}
