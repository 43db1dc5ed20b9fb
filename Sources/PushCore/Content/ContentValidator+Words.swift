extension ContentValidator {
    /// What a kind of value wants to be written.
    static func expectation(_ kind: ContentKey.Kind) -> String {
        switch kind {
        case .text: "a string"
        case .texts: "a list of strings"
        case .boolean: "true or false"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .personalisedInteger(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound), or a string with fields that gives one"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .seconds: "a number of seconds"
        case .secondsList: "a list of numbers of seconds"
        case .choice(let words): list(words)
        case .integerChoice(let numbers): list(numbers.map(String.init))
        case .color, .lightColor: "a string: #rrggbb"
        case .time: "a string: 2030-01-31T12:00:00Z"
        case .variables: "an object of names and values"
        case .object, .group, .template: "an object"
        case .textOrGroup(let keys): "a string, or an object with \(list(keys.map(\.name), last: " and "))"
        case .items: "a list of objects"
        }
    }

    static func list(_ words: [String], last word: String = " or ") -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + word + last
    }

    /// A piece of what was written, for a message.
    static func short(_ text: String) -> Substring { text.prefix(64) }

    /// Six hexadecimal digits behind a `#`.
    static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#")
            && text.utf8.dropFirst().allSatisfy { HexDigit.value($0) != nil }
    }

    /// A color and two more digits.
    static func isColorWithOpacity(_ text: String) -> Bool {
        text.utf8.count == 9 && isColor(String(text.dropLast(2)))
            && text.utf8.suffix(2).allSatisfy { HexDigit.value($0) != nil }
    }

    /// RFC 3339 in outline: the digits are where they belong, and there is a time zone.
    static func isTime(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00".utf8)
        guard bytes.count > pattern.count else { return false }
        for (byte, wanted) in zip(bytes, pattern) {
            let isRight = wanted == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == wanted
            if !isRight { return false }
        }
        var rest = bytes[pattern.count...]
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { (0x30...0x39).contains($0) } }
        if rest.elementsEqual("Z".utf8) { return true }
        let zone = Array("+00:00".utf8)
        return rest.count == zone.count
            && zip(rest, zone).allSatisfy { byte, wanted in
                switch wanted {
                case UInt8(ascii: "+"): byte == wanted || byte == UInt8(ascii: "-")
                case UInt8(ascii: "0"): (0x30...0x39).contains(byte)
                default: byte == wanted
                }
            }
    }
}
