import PushCore
import Store

/// A filter as rows of a form. Each row is a test of one field; all of them must be true, or at least one. Rows are
/// made from a filter, and give its text again. A nested filter, or one that rows cannot express, remains text. The
/// database parses texts, see ``FilterBuilder``.
struct FilterRows: Sendable, Hashable {
    /// How the rows are joined; the value is the filter language's own word.
    enum Join: String, Sendable, CaseIterable {
        case all = "and"
        case any = "or"
    }

    /// How a field is compared; the value is in the filter language's own words.
    enum Comparison: String, Sendable, CaseIterable {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case isIn = "in"
        case isNotIn = "not in"
        case contains
        case containsNot = "not contains"
        case startsWith = "starts with"
        case startsNotWith = "not starts with"
        case isNull = "is null"
        case isNotNull = "is not null"
        case ofDelivery = "delivery"
        case notOfDelivery = "not delivery"
        case ofLabel = "label"
        case notOfLabel = "not label"
        case ofCategory = "category"
        case notOfCategory = "not category"
        case ofAny = "any"
        case notOfAny = "not any"

        /// Whether it has a value.
        var takesValue: Bool { self != .isNull && self != .isNotNull }
        /// Whether its value is always a text, even if it looks like a number.
        var isOfText: Bool {
            [.contains, .containsNot, .startsWith, .startsNotWith].contains(self)
        }
        /// Whether it compares by order, so that a value that looks like a number is one.
        var isOrder: Bool { [.less, .lessOrEqual, .greater, .greaterOrEqual].contains(self) }
        /// What it is about, and whether it is denied, if it asks what people did.
        var behaviour: (word: TargetBehaviour.Subject.Word, isNot: Bool)? {
            switch self {
            case .ofDelivery: (.delivery, false)
            case .notOfDelivery: (.delivery, true)
            case .ofLabel: (.label, false)
            case .notOfLabel: (.label, true)
            case .ofCategory: (.category, false)
            case .notOfCategory: (.category, true)
            case .ofAny: (.any, false)
            case .notOfAny: (.any, true)
            case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn, .isNotIn, .contains,
                .containsNot, .startsWith, .startsNotWith, .isNull, .isNotNull:
                nil
            }
        }
        /// Whether its value is a list.
        var isOfList: Bool { self == .isIn || self == .isNotIn }
    }

    /// A row as typed.
    struct Row: Sendable, Hashable {
        var field = ""
        var comparison = Comparison.equal
        var value = ""

        var isBlank: Bool { field.isEmpty && value.isEmpty }
    }

    var join = Join.all
    var rows: [Row] = []

    /// The maximum number of rows; a longer filter is better written as text.
    static let maxRows = 20

    init() {}

    /// The rows of a filter; nil if rows cannot express it. The caller must check that the database reads their text as
    /// the same filter.
    init?(_ filter: TargetFilter) {
        let tests: [TargetFilter]
        switch filter {
        case .all(let filters): tests = filters
        case .any(let filters): (tests, join) = (filters, .any)
        default: tests = [filter]
        }
        guard tests.count <= Self.maxRows else { return nil }
        for test in tests {
            guard let row = Row(test) else { return nil }
            rows.append(row)
        }
        // A form would change a value with outer white space or line breaks.
        guard rows.allSatisfy({ $0.value == $0.value.trimmed && !$0.value.contains(where: \.isNewline) }) else {
            return nil
        }
    }

    /// The text of the filter. If a row is wrong, the text is not a valid filter.
    var text: String {
        rows.filter { !$0.isBlank }.map(\.text).joined(separator: " \(join.rawValue) ")
    }
}

extension FilterRows.Row {
    /// The test in the filter language. A wrong row gives an invalid text, never a different test.
    var text: String {
        // The database reports an unknown name. Anything that is not a name becomes a quoted text, which is not a
        // field.
        let field = TargetField.isWritten(field) ? field : TargetFilter.quoted(field)
        if let (word, isNot) = comparison.behaviour { return behaviour(field, word, isNot: isNot) }
        guard comparison.takesValue else { return "\(field) \(comparison.rawValue)" }
        // The database reports the missing value.
        guard !value.isEmpty else { return "\(field) \(comparison.rawValue)" }
        guard comparison.isOfList else { return "\(field) \(comparison.rawValue) \(literal(value))" }
        let values = value.split(separator: ",", omittingEmptySubsequences: false).map { literal($0.trimmed) }
        return "\(field) \(comparison.rawValue) (\(values.joined(separator: ", ")))"
    }

    /// The test of what people did. A time may follow the value: `Spring within 30 days`.
    private func behaviour(_ field: String, _ word: TargetBehaviour.Subject.Word, isNot: Bool) -> String {
        let time = value.firstMatch(of: /(?:^|\s)((?i:within)\s+[0-9]+\s+[a-zA-Z]+)$/)
        let name = String(value[..<(time?.range.lowerBound ?? value.endIndex)]).trimmed
        let about =
            switch word {
            // The database reports what is no number, and a name that lacks or is too much.
            case .delivery: name.wholeMatch(of: /[0-9]+/) != nil ? name : TargetFilter.quoted(name)
            case .label, .category, .any: name.isEmpty ? "" : TargetFilter.quoted(name)
            }
        let parts = [isNot ? "not" : "", field, word.rawValue, about, time.map { String($0.output.1) } ?? ""]
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The problem, in the database's words; nil for none.
    ///
    /// - Parameter parsed: the database's result for its text.
    func problem(_ parsed: Result<TargetFilter, TargetFilterError>) -> String? {
        guard !isBlank, case .failure(let error) = parsed else { return nil }
        return "\(error.cause); \(error.remedy)"
    }

    /// A value as a literal of the filter language, depending on the field's kind and the comparison.
    private func literal(_ value: String) -> String {
        guard !comparison.isOfText else { return TargetFilter.quoted(value) }
        let isNumber = value.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?/) != nil
        let isBoolean = ["true", "false"].contains(value.lowercased())
        let isDistance = value.wholeMatch(of: /(?i:now)(\s*[+-]\s*[0-9]+\s+[a-zA-Z]+)?/) != nil
        // The kind is nil if only the database knows it, or if there is no such field.
        switch TargetField(field)?.kind {
        case .number?: return isNumber ? value : TargetFilter.quoted(value)
        case .boolean?: return isBoolean ? value.lowercased() : TargetFilter.quoted(value)
        case .time?: return isDistance ? value : TargetFilter.quoted(value)
        // Comparisons by order on a text field are usually meant for numbers or dates.
        case .text?:
            guard comparison.isOrder else { return TargetFilter.quoted(value) }
            let isDay = value.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.Z+-]+)?/) != nil
            if isDay { return "date \(TargetFilter.quoted(value))" }
            return isNumber || isDistance ? value : TargetFilter.quoted(value)
        case nil: return isNumber ? value : isBoolean ? value.lowercased() : TargetFilter.quoted(value)
        }
    }

    /// The row of a test; nil if it is not a test of one field.
    init?(_ test: TargetFilter) {
        if case .not(let inner) = test {
            self.init(inner)
            switch comparison {
            case .isIn: comparison = .isNotIn
            case .contains: comparison = .containsNot
            case .startsWith: comparison = .startsNotWith
            case .isNull: comparison = .isNotNull
            case .ofDelivery: comparison = .notOfDelivery
            case .ofLabel: comparison = .notOfLabel
            case .ofCategory: comparison = .notOfCategory
            case .ofAny: comparison = .notOfAny
            default: return nil
            }
            return
        }
        self.init()
        switch test {
        case .compare(let field, let wanted, let literal):
            guard let known = FilterRows.Comparison(rawValue: wanted.rawValue) else { return nil }
            (self.field, comparison, value) = (field.description, known, Self.shown(literal))
        case .isIn(let field, let literals):
            (self.field, comparison) = (field.description, .isIn)
            value = literals.map(Self.shown).joined(separator: ", ")
        case .contains(let field, let text):
            (self.field, comparison, value) = (field.description, .contains, text)
        case .startsWith(let field, let text):
            (self.field, comparison, value) = (field.description, .startsWith, text)
        case .isNull(let field): (self.field, comparison) = (field.description, .isNull)
        case .did(let test):
            (field, comparison) = (test.kind.rawValue, Self.comparison(test.subject.word))
            value = [test.subject.value, test.days.map { "within \($0) days" }].compactMap(\.self).joined(
                separator: " "
            )
        case .all, .any, .not: return nil
        }
    }

    private static func comparison(_ word: TargetBehaviour.Subject.Word) -> FilterRows.Comparison {
        switch word {
        case .delivery: .ofDelivery
        case .label: .ofLabel
        case .category: .ofCategory
        case .any: .ofAny
        }
    }

    /// A value as typed in a row.
    private static func shown(_ literal: TargetLiteral) -> String {
        switch literal {
        case .text(let text), .textOrTime(let text, _): return text
        case .number(let digits): return digits
        case .boolean(let flag): return "\(flag)"
        case .time(.absolute(let microseconds)):
            let text = DatabaseTime(microsecondsSince1970: microseconds).internetText
            return microseconds.isMultiple(of: 86_400_000_000) ? String(text.prefix(10)) : text
        case .time(.beforeStart(let seconds)):
            guard seconds != 0 else { return "now" }
            let (unit, length) = units.first { abs(seconds).isMultiple(of: $0.length) } ?? ("seconds", 1)
            return "now \(seconds > 0 ? "-" : "+") \(abs(seconds) / length) \(unit)"
        }
    }

    private static let units: [(name: String, length: Int64)] = [
        ("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1),
    ]
}

/// Reads rows from a form, and saves them in a draft.
extension FilterRows {
    /// The names of form fields, and of a draft's values.
    enum Name {
        /// The text from which the rows were made. If the filter's text differs from it, the user has changed the text,
        /// and the text is used.
        static let made = "made"
        static let join = "join"
        /// The prefix of the values with rows that are not a valid filter yet; they are saved as typed.
        static let kept = "target.row."

        static func field(_ place: Int) -> String { "row.\(place).field" }
        static func comparison(_ place: Int) -> String { "row.\(place).is" }
        static func value(_ place: Int) -> String { "row.\(place).value" }
    }

    /// The rows of a form; nil if it has none.
    init?(_ form: FormParameters) {
        guard let join = form[Name.join].flatMap({ Join(rawValue: $0) }) else { return nil }
        self.join = join
        for place in 0..<Self.maxRows {
            guard let field = form[Name.field(place)] else { break }
            rows.append(
                Row(
                    field: field.trimmed,
                    comparison: form[Name.comparison(place)].flatMap { Comparison(rawValue: $0) } ?? .equal,
                    value: (form[Name.value(place)] ?? "").trimmed
                )
            )
        }
    }

    /// The rows saved in a draft; nil if there are none.
    init?(kept fields: [String: String]) {
        guard let join = fields[Name.kept + Name.join].flatMap({ Join(rawValue: $0) }) else { return nil }
        self.join = join
        for place in 0..<Self.maxRows {
            guard let field = fields[Name.kept + Name.field(place)] else { break }
            let comparison = fields[Name.kept + Name.comparison(place)].flatMap { Comparison(rawValue: $0) }
            rows.append(
                Row(
                    field: field,
                    comparison: comparison ?? .equal,
                    value: fields[Name.kept + Name.value(place)] ?? ""
                )
            )
        }
    }

    /// The values to save in a draft; empty if the filter's text gives the same rows.
    ///
    /// - Parameter parsed: the database's result for their text.
    func kept(_ parsed: Result<TargetFilter, TargetFilterError>) -> [String: String] {
        guard !rows.isEmpty, !isSaid(parsed) else { return [:] }
        var fields = [Name.kept + Name.join: join.rawValue]
        for (place, row) in rows.enumerated() {
            fields[Name.kept + Name.field(place)] = row.field
            fields[Name.kept + Name.comparison(place)] = row.comparison.rawValue
            fields[Name.kept + Name.value(place)] = row.value
        }
        return fields
    }

    /// Whether the filter that the database read from their text gives the same rows.
    private func isSaid(_ parsed: Result<TargetFilter, TargetFilterError>) -> Bool {
        guard case .success(let filter) = parsed, !rows.contains(where: \.isBlank) else { return false }
        return FilterRows(filter) == self
    }
}
