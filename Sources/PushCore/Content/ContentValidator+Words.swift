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
        case .label: "a string of letters, digits and -_.~%"
        case .word(let words): list(words)
        case .duration(let most): "a string of seconds from \"0s\" to \"\(Int(most))s\", such as \"3.5s\""
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

    /// FCM takes labels that match `^[a-zA-Z0-9-_.~%]{1,50}$` (FCM v1, `AndroidFcmOptions.analytics_label`).
    static let longestLabel = 50

    /// Whether FCM takes a text as a label.
    static func isLabel(_ text: String) -> Bool {
        (1...longestLabel).contains(text.utf8.count)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || "-_.~%".utf8.contains($0) }
    }
}
