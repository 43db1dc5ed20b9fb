import PushCore
import Store

/// A filter as rows of a form: tests of a field each, of which all are true or one is. It is made of the filter's text and made into it;
/// what is nested, or says what rows cannot, stays text that is written by hand.
struct FilterRows: Sendable, Hashable {
    /// How the rows are joined, by the language's own word.
    enum Join: String, Sendable, CaseIterable {
        case all = "and"
        case any = "or"
    }

    /// What is asked of a field, by the language's own words.
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

        /// Whether there is a value behind it.
        var takesValue: Bool { self != .isNull && self != .isNotNull }
        /// Whether its value is a text whatever it reads as.
        var isOfText: Bool {
            [.contains, .containsNot, .startsWith, .startsNotWith].contains(self)
        }
        /// Whether it compares by order, so that what reads as a number is one.
        var isOrder: Bool { [.less, .lessOrEqual, .greater, .greaterOrEqual].contains(self) }
        /// Whether its value is a list.
        var isOfList: Bool { self == .isIn || self == .isNotIn }
    }

    /// A row as it was typed.
    struct Row: Sendable, Hashable {
        var field = ""
        var comparison = Comparison.equal
        var value = ""

        var isBlank: Bool { field.isEmpty && value.isEmpty }
    }

    var join = Join.all
    var rows: [Row] = []

    /// Rows of a form; more are a text that is better written by hand.
    static let most = 20

    init() {}

    /// The rows of a filter; nil if it says what rows cannot.
    init?(_ filter: TargetFilter) {
        let tests: [TargetFilter]
        switch filter {
        case .all(let filters): tests = filters
        case .any(let filters): (tests, join) = (filters, .any)
        default: tests = [filter]
        }
        guard tests.count <= Self.most else { return nil }
        for test in tests {
            guard let row = Row(test) else { return nil }
            rows.append(row)
        }
        // A value that a form does not keep, or that reads as something else in a row, would be changed by it.
        guard rows.allSatisfy({ $0.value == $0.value.trimmed && !$0.value.contains(where: \.isNewline) }),
            (try? TargetFilter(parsing: text)) == filter
        else { return nil }
    }

    /// The text of the filter. One of whose rows something is wrong with is no filter.
    var text: String {
        rows.filter { !$0.isBlank }.map(\.text).joined(separator: " \(join.rawValue) ")
    }
}

extension FilterRows.Row {
    /// The test in the language of filters. A wrong row makes a text that is no filter, and never another test.
    var text: String {
        // A name that is none is told as such by the language; what is no name at all becomes a text, which is no field.
        let isName = field.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.]*/) != nil
        let field = isName || Self.isField(field) ? field : Self.quoted(field)
        guard comparison.takesValue else { return "\(field) \(comparison.rawValue)" }
        // Without a value, the language misses one.
        guard !value.isEmpty else { return "\(field) \(comparison.rawValue)" }
        guard comparison.isOfList else { return "\(field) \(comparison.rawValue) \(literal(value))" }
        let values = value.split(separator: ",", omittingEmptySubsequences: false).map { literal($0.trimmed) }
        return "\(field) \(comparison.rawValue) (\(values.joined(separator: ", ")))"
    }

    /// What is wrong with it, in the language's own words; nil if nothing is.
    var problem: String? {
        do throws(TargetFilterError) {
            _ = try TargetFilter(parsing: text)
            return nil
        } catch {
            return "\(error.cause); \(error.remedy)"
        }
    }

    /// What the field holds; nil if only the database knows, or if it is none.
    private var kind: TargetKind? {
        guard case .isNull(let field)? = try? TargetFilter(parsing: "\(field) is null") else { return nil }
        return field.kind
    }

    private static func isField(_ text: String) -> Bool {
        if case .isNull? = try? TargetFilter(parsing: "\(text) is null") { true } else { false }
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    /// A value as the language has it, by what the field holds and how it is compared.
    private func literal(_ value: String) -> String {
        guard !comparison.isOfText else { return Self.quoted(value) }
        let isNumber = value.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]+)?/) != nil
        let isBoolean = ["true", "false"].contains(value.lowercased())
        let isDistance = value.wholeMatch(of: /(?i:now)(\s*[+-]\s*[0-9]+\s+[a-zA-Z]+)?/) != nil
        switch kind {
        case .number?: return isNumber ? value : Self.quoted(value)
        case .boolean?: return isBoolean ? value.lowercased() : Self.quoted(value)
        case .time?: return isDistance ? value : Self.quoted(value)
        // A text is compared by its order seldom, and numbers in texts often.
        case .text?:
            guard comparison.isOrder else { return Self.quoted(value) }
            if TargetMoment(value) != nil { return "date \(Self.quoted(value))" }
            return isNumber || isDistance ? value : Self.quoted(value)
        case nil: return isNumber ? value : isBoolean ? value.lowercased() : Self.quoted(value)
        }
    }

    /// The row of a test; nil if it is none of one field.
    init?(_ test: TargetFilter) {
        if case .not(let inner) = test {
            self.init(inner)
            switch comparison {
            case .isIn: comparison = .isNotIn
            case .contains: comparison = .containsNot
            case .startsWith: comparison = .startsNotWith
            case .isNull: comparison = .isNotNull
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
        case .all, .any, .not: return nil
        }
    }

    /// A value as it is typed into a row.
    private static func shown(_ literal: TargetLiteral) -> String {
        switch literal {
        case .text(let text): return text
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

/// How rows come from a form, are kept in a draft, and are shown.
extension FilterRows {
    /// The names of the form's fields and of a draft's values.
    enum Name {
        /// The text that the rows were made of; whoever changed the text by hand is followed.
        static let made = "made"
        static let join = "join"
        /// Rows that are no filter yet are kept as they were typed; what their names begin with.
        static let kept = "target.row."

        static func field(_ place: Int) -> String { "row.\(place).field" }
        static func comparison(_ place: Int) -> String { "row.\(place).is" }
        static func value(_ place: Int) -> String { "row.\(place).value" }
    }

    /// The rows of a form; nil if it had none.
    init?(_ form: FormParameters) {
        guard let join = form[Name.join].flatMap({ Join(rawValue: $0) }) else { return nil }
        self.join = join
        for place in 0..<Self.most {
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

    /// The rows that a draft has kept; nil if it has none.
    init?(kept fields: [String: String]) {
        guard let join = fields[Name.kept + Name.join].flatMap({ Join(rawValue: $0) }) else { return nil }
        self.join = join
        for place in 0..<Self.most {
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

    /// What a draft keeps of them: nothing of rows that its text says, too.
    var kept: [String: String] {
        let isSaid =
            !rows.contains { $0.isBlank } && (try? TargetFilter(parsing: text)).flatMap { FilterRows($0) } == self
        guard !isSaid, !rows.isEmpty else { return [:] }
        var fields = [Name.kept + Name.join: join.rawValue]
        for (place, row) in rows.enumerated() {
            fields[Name.kept + Name.field(place)] = row.field
            fields[Name.kept + Name.comparison(place)] = row.comparison.rawValue
            fields[Name.kept + Name.value(place)] = row.value
        }
        return fields
    }
}
