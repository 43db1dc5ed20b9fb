import PushCore

/// A value that a gateway takes in a certain form only, given as a text with fields.
struct CheckedTemplate: Sendable, Hashable {
    /// What the text has to come out as.
    enum Form: Sendable, Hashable {
        case wholeNumber(ClosedRange<Int64>)
        /// Any number that JSON has.
        case number
        /// `true` or `false`, also as databases write them.
        case boolean
        /// `#rrggbb`.
        case color
        /// A time as RFC 3339 writes it.
        case time
        /// A label of FCM's statistics.
        case label
    }

    let text: TextTemplate
    let form: Form
    /// What an object says whose one entry is the text of a value that is no text in the payload.
    static let numberName = "$number"
    static let booleanName = "$boolean"

    /// The value that an object stands for, if it is `{"$number": "{{name}}"}` or `{"$boolean": "{{name}}"}`.
    static func typed(_ entries: [JSONEntry]) -> CheckedTemplate? {
        guard entries.count == 1, let entry = entries.first, case .string(let text) = entry.value,
            let form = form(entry.name), let template = try? TextTemplate(text)
        else { return nil }
        return CheckedTemplate(text: template, form: form)
    }

    /// The form that such an entry's name asks for.
    static func form(_ name: String) -> Form? {
        switch name {
        case numberName: .number
        case booleanName: .boolean
        default: nil
        }
    }

    /// What stands around the value, for example quotes and a unit.
    var prefix = ""
    var suffix = ""

    /// A text that stands in quotes.
    static func quoted(_ text: TextTemplate, _ form: Form) -> CheckedTemplate {
        CheckedTemplate(text: text, form: form, prefix: "\"", suffix: "\"")
    }

    /// The number that a text is: digits, perhaps with a minus before them and spaces around. `5.0` is one too, as jsonb
    /// writes that for a number which was written so.
    static func wholeNumber(_ bytes: [UInt8]) -> Int64? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        var text = bytes.drop(while: isSpace)
        while text.last.map(isSpace) == true { text.removeLast() }
        if let point = text.firstIndex(of: UInt8(ascii: ".")) {
            let fraction = text[(point + 1)...]
            guard !fraction.isEmpty, fraction.allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
            text = text[..<point]
        }
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
        guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
        return Int64(String(decoding: text, as: UTF8.self))
    }
}

extension CheckedTemplate.Form {
    /// The value as it goes into the payload; nil if the text has another form.
    func value(_ bytes: [UInt8]) -> [UInt8]? {
        let isRight: Bool
        switch self {
        case .wholeNumber(let range):
            guard let number = CheckedTemplate.wholeNumber(bytes), range.contains(number) else { return nil }
            var digits: [UInt8] = []
            DecimalText.append(number, to: &digits)
            return digits
        case .number: return Self.number(bytes)
        case .boolean: return Self.boolean(bytes)
        case .color: isRight = ContentValidator.isColor(String(decoding: bytes, as: UTF8.self))
        case .time: isRight = ContentValidator.isTime(String(decoding: bytes, as: UTF8.self))
        case .label: isRight = ContentValidator.isLabel(String(decoding: bytes, as: UTF8.self))
        }
        return isRight ? bytes : nil
    }

    /// A number as JSON writes it, without the spaces around it.
    private static func number(_ bytes: [UInt8]) -> [UInt8]? {
        let text = trimmed(bytes)
        // A number has no hundred digits; what has is a text.
        guard text.count <= 100, case .number(let digits)? = try? JSONParser.parse(text),
            digits.utf8.elementsEqual(text),
            Double(digits)?.isFinite == true
        else { return nil }
        return text
    }

    private static func boolean(_ bytes: [UInt8]) -> [UInt8]? {
        switch String(decoding: trimmed(bytes), as: UTF8.self) {
        case "true", "t", "1": Array("true".utf8)
        case "false", "f", "0": Array("false".utf8)
        default: nil
        }
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        var text = bytes.drop { $0 <= 0x20 }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        return Array(text)
    }
}

enum DecimalText {
    /// Appends a number's decimal digits.
    static func append(_ number: Int64, to output: inout [UInt8]) {
        if number < 0 { output.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = output.count
        repeat {
            output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var (low, high) = (start, output.count - 1)
        while low < high {
            output.swapAt(low, high)
            low += 1
            high -= 1
        }
    }
}
