import PushCore
import Store

/// The rows of a filter as the composer shows them, with the fields to choose from, and what becomes of the form.
struct FilterBuilder: Sendable {
    let rows: FilterRows
    /// The filter's text, of which the rows were made.
    let text: String
    /// Fields that the applications declare.
    let declared: [String]
    let catalogue: Catalogue

    /// Buttons of the form, beside those of every step.
    private enum Button {
        static let add = "add"
        /// What the name of the button begins with that removes a row.
        static let remove = "remove."
    }

    /// The rows of a draft's target: those that it has kept, else those of its text; nil for a text that rows cannot say.
    static func rows(_ composed: ComposedDraft) -> FilterRows? {
        if let kept = FilterRows(kept: composed.draft.fields) { return kept }
        guard !composed.filterText.isEmpty else {
            var empty = FilterRows()
            empty.rows = [FilterRows.Row()]
            return empty
        }
        return (try? composed.filter()).flatMap { $0 }.flatMap { FilterRows($0) }
    }

    /// Takes a form into a draft's values: the text if somebody has changed it, else what the rows say.
    ///
    /// - Returns: the text of the filter.
    static func save(_ form: FormParameters, in fields: inout [String: String]) -> String {
        fields = fields.filter { !$0.key.hasPrefix(FilterRows.Name.kept) }
        func text(_ name: String) -> String { (form[name] ?? "").replacing("\r\n", with: "\n").trimmed }
        var filter = text("filter")
        if var rows = FilterRows(form), filter == text(FilterRows.Name.made) {
            let button = form[Composer.Field.go] ?? ""
            if button == Button.add {
                if rows.rows.count < FilterRows.most { rows.rows.append(FilterRows.Row()) }
            } else if button.hasPrefix(Button.remove) {
                let place = Int(button.dropFirst(Button.remove.count))
                if let place, rows.rows.indices.contains(place) { rows.rows.remove(at: place) }
            } else {
                rows.rows.removeAll { $0.isBlank }
            }
            filter = rows.text
            fields.merge(rows.kept) { _, new in new }
        }
        fields[ComposedDraft.Name.filter] = filter.isEmpty ? nil : filter
        return filter
    }

    /// Whether something is wrong with one of the rows.
    var isWrong: Bool { rows.rows.contains { !$0.isBlank && $0.problem != nil } }

    var values: PageValues {
        let fields = TargetColumn.allCases.map(\.rawValue) + Set(declared).sorted()
        let unique = fields.enumerated().filter { fields.firstIndex(of: $0.element) == $0.offset }.map(\.element)
        return [
            "made": .text(text),
            "joins": .list(
                FilterRows.Join.allCases.map { join in
                    [
                        "value": .text(join.rawValue), "name": .text(catalogue.join(join)),
                        "isChosen": .flag(join == rows.join),
                    ]
                }
            ),
            "rows": .list(rows.rows.enumerated().map(row)), "fields": .list(unique.map { ["value": .text($0)] }),
            "mayAdd": .flag(rows.rows.count < FilterRows.most),
        ]
    }

    private func row(_ place: Int, _ row: FilterRows.Row) -> PageValues {
        let problem = row.isBlank ? nil : row.problem
        return [
            "place": .text("\(place + 1)"), "fieldName": .text(FilterRows.Name.field(place)), "field": .text(row.field),
            "comparisonName": .text(FilterRows.Name.comparison(place)),
            "comparisons": .list(
                FilterRows.Comparison.allCases.map { comparison in
                    [
                        "value": .text(comparison.rawValue), "name": .text(catalogue.comparison(comparison)),
                        "isChosen": .flag(comparison == row.comparison),
                    ]
                }
            ),
            "valueName": .text(FilterRows.Name.value(place)), "wanted": .text(row.value),
            "remove": .text("\(Button.remove)\(place)"), "isRowWrong": .flag(problem != nil),
            "rowProblem": .text(problem ?? ""),
        ]
    }
}

extension Catalogue {
    /// How rows of a filter are joined.
    func join(_ join: FilterRows.Join) -> String {
        switch join {
        case .all: self[.ruleAll]
        case .any: self[.ruleAny]
        }
    }

    /// What is asked of a field.
    func comparison(_ comparison: FilterRows.Comparison) -> String {
        switch comparison {
        case .equal: self[.ruleEqual]
        case .notEqual: self[.ruleNotEqual]
        case .less: self[.ruleLess]
        case .lessOrEqual: self[.ruleLessOrEqual]
        case .greater: self[.ruleGreater]
        case .greaterOrEqual: self[.ruleGreaterOrEqual]
        case .isIn: self[.ruleIn]
        case .isNotIn: self[.ruleNotIn]
        case .contains: self[.ruleContains]
        case .containsNot: self[.ruleContainsNot]
        case .startsWith: self[.ruleStarts]
        case .startsNotWith: self[.ruleStartsNot]
        case .isNull: self[.ruleNull]
        case .isNotNull: self[.ruleNotNull]
        }
    }
}
