import PushCore
import Store

/// The rows of a filter in the composer, with the fields to choose from, and the reading of their form.
struct FilterBuilder: Sendable {
    let rows: FilterRows
    /// The problem of each row; nil for none.
    let problems: [String?]
    /// The filter's text, from which the rows were made.
    let text: String
    /// The fields that the applications declare.
    let declared: [String]
    let catalogue: Catalogue

    /// The form's buttons, in addition to those of every step.
    private enum Button {
        static let add = "add"
        /// The prefix of the name of a button that removes a row.
        static let remove = "remove."
    }

    /// The rows of a draft's target, and the problem of each: the rows saved in the draft, otherwise those of its text;
    /// nil for a text that rows cannot express.
    static func read(_ composed: ComposedDraft, _ store: Store) async throws -> (rows: FilterRows, problems: [String?])?
    {
        var rows = FilterRows()
        var filter: TargetFilter?
        if let kept = FilterRows(kept: composed.draft.fields) {
            rows = kept
        } else if composed.filterText.isEmpty {
            rows.rows = [FilterRows.Row()]
        } else {
            guard case .success(let written) = try await store.parseFilter(composed.filterText),
                let shown = FilterRows(written)
            else { return nil }
            rows = shown
            filter = written
        }
        let parsed = try await store.parseFilters([rows.text] + rows.rows.map(\.text))
        // The rows are used only if their text gives the same filter: a value that a row would change must stay text.
        if let filter {
            guard case .success(filter)? = parsed.first else { return nil }
        }
        return (rows, zip(rows.rows, parsed.dropFirst()).map { row, parsed in row.problem(parsed) })
    }

    /// Saves a form in a draft's values: the text if the user changed it, otherwise the text of the rows.
    ///
    /// - Returns: the text of the filter, and the rows if they were used. The rows' own values are not in the draft
    ///   yet.
    static func save(_ form: FormParameters, in fields: inout [String: String]) -> (filter: String, rows: FilterRows?) {
        fields = fields.filter { !$0.key.hasPrefix(FilterRows.Name.kept) }
        func text(_ name: String) -> String { (form[name] ?? "").replacing("\r\n", with: "\n").trimmed }
        var filter = text("filter")
        var saved: FilterRows?
        if var rows = FilterRows(form), filter == text(FilterRows.Name.made) {
            let button = form[Composer.Field.go] ?? ""
            if button == Button.add {
                if rows.rows.count < FilterRows.maxRows { rows.rows.append(FilterRows.Row()) }
            } else if button.hasPrefix(Button.remove) {
                let place = Int(button.dropFirst(Button.remove.count))
                if let place, rows.rows.indices.contains(place) { rows.rows.remove(at: place) }
            } else {
                rows.rows.removeAll { $0.isBlank }
            }
            filter = rows.text
            saved = rows
        }
        fields[ComposedDraft.Name.filter] = filter.isEmpty ? nil : filter
        return (filter, saved)
    }

    /// Whether a row has a problem.
    var isWrong: Bool { problems.contains { $0 != nil } }

    var values: PageValues {
        let behaviours = TargetBehaviour.Kind.allCases.map(\.rawValue)
        let fields = TargetColumn.allCases.map(\.rawValue) + behaviours + Set(declared).sorted()
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
            "mayAdd": .flag(rows.rows.count < FilterRows.maxRows),
        ]
    }

    private func row(_ place: Int, _ row: FilterRows.Row) -> PageValues {
        let problem = problems[place]
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
    /// The name of a way to join rows.
    func join(_ join: FilterRows.Join) -> String {
        switch join {
        case .all: self[.ruleAll]
        case .any: self[.ruleAny]
        }
    }

    /// The name of a comparison.
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
        case .ofDelivery: self[.ruleOfDelivery]
        case .notOfDelivery: self[.ruleNotOfDelivery]
        case .ofLabel: self[.ruleOfLabel]
        case .notOfLabel: self[.ruleNotOfLabel]
        case .ofCategory: self[.ruleOfCategory]
        case .notOfCategory: self[.ruleNotOfCategory]
        case .ofAny: self[.ruleOfAny]
        case .notOfAny: self[.ruleNotOfAny]
        }
    }
}
