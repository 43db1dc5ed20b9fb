import PushCore

/// A text with fields whose result must have a certain form, because the gateway accepts no other.
struct CheckedTemplate: Sendable, Hashable {
    /// The form that the rendered text must have.
    enum Form: Sendable, Hashable {
        case wholeNumber(ClosedRange<Int64>)
        /// Any JSON number.
        case number
        /// `true` or `false`; `t`, `f`, `1` and `0`, as databases write them, are accepted too.
        case boolean
        /// `#rrggbb`.
        case color
        /// An RFC 3339 time.
        case time
        /// A label of FCM's statistics.
        case label
    }

    let text: TextTemplate
    let form: Form
    /// The only key of an object that stands for a number, or a boolean, in the payload: its value is the text that
    /// gives it.
    static let numberName = "$number"
    static let booleanName = "$boolean"

    /// The value that an object stands for, if it is `{"$number": "{{name}}"}` or `{"$boolean": "{{name}}"}`.
    static func typed(_ entries: [JSONEntry]) -> CheckedTemplate? {
        guard entries.count == 1, let entry = entries.first, case .string(let text) = entry.value,
            let form = form(entry.name), let template = try? TextTemplate(text)
        else { return nil }
        return CheckedTemplate(text: template, form: form)
    }

    /// The form that one of these keys asks for.
    static func form(_ name: String) -> Form? {
        switch name {
        case numberName: .number
        case booleanName: .boolean
        default: nil
        }
    }

    /// The text around the value, for example quotes and a unit.
    var prefix = ""
    var suffix = ""

    /// A text in quotes.
    static func quoted(_ text: TextTemplate, _ form: Form) -> CheckedTemplate {
        CheckedTemplate(text: text, form: form, prefix: "\"", suffix: "\"")
    }

    /// The whole number that a text is: digits, optionally with a minus sign and surrounding spaces. `5.0` counts as 5,
    /// because jsonb keeps the fraction of a number that was written with one.
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
    /// The value for the payload; nil if the text does not have this form.
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

    /// A JSON number, without surrounding spaces.
    private static func number(_ bytes: [UInt8]) -> [UInt8]? {
        let text = trimmed(bytes)
        // No real number has more than a hundred digits.
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
