import Content
import PushCore

/// The declarations of an application as rows of a form: variables, sounds and subscription parameters.
struct DeclarationRows: Sendable {
    /// The kinds of declaration; each row holds one.
    enum Kind: String, Sendable, CaseIterable {
        case variable, sound, parameter

        /// The columns of a row.
        var columns: [Column] {
            switch self {
            case .variable: [.name, .type, .default, .label]
            case .sound: [.name, .origin, .label]
            case .parameter: [.name, .column, .zone]
            }
        }
    }

    /// A column of a row, with the name of its field.
    enum Column: String, Sendable {
        case name, type, `default`, label, origin, column, zone
    }

    typealias Row = [Column: String]

    /// The origin of a sound of the system.
    static let system = "system"
    /// What is sent for a parameter that is the time zone.
    static let isZone = "yes"
    /// The maximum number of rows in a list: no one declares more, and a form with all of them is accepted.
    static let maxRows = 300

    private(set) var rows: [Kind: [Row]]
    /// The row that was just added, which gets the focus.
    private(set) var added: (kind: Kind, place: Int)?

    /// Creates the rows of existing declarations.
    init(_ declared: ApplicationDeclarations) {
        rows = [
            .variable: declared.variables.map {
                [.name: $0.name, .type: $0.type.rawValue, .default: $0.defaultValue ?? "", .label: $0.label]
            },
            .sound: declared.sounds.map {
                [.name: $0.name, .origin: $0.isSystem ? Self.system : "", .label: $0.label]
            },
            .parameter: declared.parameters.map {
                [.name: $0.name, .column: $0.column.description, .zone: $0.isTimeZone ? Self.isZone : ""]
            },
        ]
    }

    init(_ form: [String: String]) {
        rows = [:]
        for kind in Kind.allCases {
            var list: [Row] = []
            while list.count < Self.maxRows, form[Self.field(kind, list.count, .name)] != nil {
                let place = list.count
                let typed = kind.columns.map { ($0, form[Self.field(kind, place, $0)] ?? "") }
                list.append(Dictionary(typed) { first, _ in first })
            }
            rows[kind] = list
        }
    }

    /// The name of a field.
    static func field(_ kind: Kind, _ place: Int, _ column: Column) -> String {
        "\(kind.rawValue).\(place).\(column.rawValue)"
    }

    /// The key under which the problem of a row is stored.
    static func key(_ kind: Kind, _ place: Int) -> String { "\(kind.rawValue).\(place)" }

    /// Does what a button asks for, `add.KIND` or `remove.KIND.PLACE`; false for anything else.
    mutating func press(_ button: String) -> Bool {
        let words = button.split(separator: ".").map(String.init)
        guard words.count >= 2, let kind = Kind(rawValue: words[1]) else { return false }
        if words[0] == "add" {
            let count = rows[kind]?.count ?? 0
            guard count < Self.maxRows else { return true }
            rows[kind, default: []].append(Dictionary(uniqueKeysWithValues: kind.columns.map { ($0, "") }))
            added = (kind, count)
            return true
        }
        guard words[0] == "remove", words.count == 3, let place = Int(words[2]) else { return false }
        if rows[kind]?.indices.contains(place) == true { rows[kind]?.remove(at: place) }
        return true
    }

    /// The declarations in the rows; blank rows declare nothing.
    ///
    /// - Parameters:
    ///   - earlier: the present declarations; they keep what a form field cannot show.
    ///   - problems: receives what is wrong, under the row's key.
    func declared(over earlier: ApplicationDeclarations, _ platform: Platform, _ problems: inout [String: String])
        -> ApplicationDeclarations
    {
        var declared = ApplicationDeclarations()
        for kind in Kind.allCases {
            for (place, row) in (rows[kind] ?? []).enumerated()
            where row.contains(where: { $0.key != .type && !$0.value.trimmed.isEmpty }) {
                do throws(DeclarationError) {
                    try Self.declare(row, kind, earlier, platform, &declared)
                } catch {
                    problems[Self.key(kind, place)] = error.sentence
                }
            }
        }
        return declared
    }

    private static func declare(
        _ row: Row,
        _ kind: Kind,
        _ earlier: ApplicationDeclarations,
        _ platform: Platform,
        _ declared: inout ApplicationDeclarations
    ) throws(DeclarationError) {
        let name = (row[.name] ?? "").trimmed
        let label = (row[.label] ?? "").trimmed
        switch kind {
        case .variable:
            try refuseTwice(name, declared.variables.map(\.name))
            let before = earlier.variables.first { $0.name == name }
            declared.variables.append(
                try ApplicationVariable(
                    name: name,
                    type: ApplicationVariable.Kind(rawValue: row[.type] ?? "") ?? .text,
                    defaultValue: value(row[.default] ?? "", before?.defaultValue),
                    label: value(label, before?.label) ?? "",
                    platform: platform
                )
            )
        case .sound:
            try refuseTwice(name, declared.sounds.map(\.name))
            let before = earlier.sounds.first { $0.name == name }
            declared.sounds.append(
                try ApplicationSound(
                    name: name,
                    label: value(label, before?.label) ?? "",
                    isSystem: row[.origin] == system
                )
            )
        case .parameter:
            try refuseTwice(name, declared.parameters.map(\.name))
            let column = (row[.column] ?? "").trimmed
            try declared.declare(
                try SubscriptionParameter(
                    name: name,
                    column: column.isEmpty ? nil : column,
                    isTimeZone: row[.zone] == isZone
                )
            )
        }
    }

    private static func refuseTwice(_ name: String, _ names: [String]) throws(DeclarationError) {
        guard names.contains(name) else { return }
        throw DeclarationError(name, "it is declared twice", "declare it once")
    }

    /// The typed value; nil for an empty one. A form field cannot hold line ends, and shows an empty default like a
    /// missing one. A field that was not changed keeps its stored value.
    private static func value(_ typed: String, _ earlier: String?) -> String? {
        if let earlier, earlier.filter({ !$0.isNewline }) == typed { return earlier }
        return typed.isEmpty ? nil : typed
    }
}

/// The rows as a template shows them.
extension DeclarationRows {
    /// One list for each kind.
    func values(_ problems: [String: String], _ catalogue: Catalogue) -> PageValue {
        .list(
            Kind.allCases.map { kind in
                let (title, hint, add) = Self.words(kind)
                let rows = (rows[kind] ?? []).enumerated().map { place, row in
                    values(kind, place, row, problems[Self.key(kind, place)], catalogue)
                }
                return [
                    "kind": .text(kind.rawValue), "listTitle": .text(catalogue[title]),
                    "listHint": .text(catalogue[hint]), "rows": .list(rows), "add": .text("add.\(kind.rawValue)"),
                    "addWords": .text(catalogue[add]),
                ]
            }
        )
    }

    private static func words(_ kind: Kind) -> (title: Phrase, hint: Phrase, add: Phrase) {
        switch kind {
        case .variable: (.variablesTitle, .variablesHint, .variableAdd)
        case .sound: (.soundsTitle, .soundsHint, .soundAdd)
        case .parameter: (.parametersTitle, .parametersHint, .parameterAdd)
        }
    }

    private func values(_ kind: Kind, _ place: Int, _ row: Row, _ problem: String?, _ catalogue: Catalogue)
        -> PageValues
    {
        let key = Self.key(kind, place)
        let isAdded = added.map { $0.kind == kind && $0.place == place } ?? false
        let cells = kind.columns.map { column -> PageValues in
            var cell: PageValues = [
                "cell": .text(Self.field(kind, place, column)), "label": .text(catalogue[Self.label(kind, column)]),
                "value": .text(row[column] ?? ""), "isLine": .flag(true), "isChoice": .flag(false),
                "isNew": .flag(isAdded && column == .name), "placeholder": "",
            ]
            if column == .column {
                cell["known"] = "columns"
                let name = (row[.name] ?? "").trimmed
                cell["placeholder"] = .text("parameters." + (name.isEmpty ? "…" : name))
            }
            if let options = Self.options(column, catalogue) {
                cell["isLine"] = .flag(false)
                cell["isChoice"] = .flag(true)
                cell["options"] = .list(
                    options.map { option in
                        [
                            "value": .text(option.value), "name": .text(option.name),
                            "isChosen": .flag(option.value == row[column] ?? ""),
                        ]
                    }
                )
            }
            return cell
        }
        let name = (row[.name] ?? "").trimmed
        return [
            "cells": .list(cells), "number": .text("\(place + 1)"), "remove": .text("remove.\(key)"),
            "rowName": .text(name.isEmpty ? "\(place + 1)" : name), "isRowWrong": .flag(problem != nil),
            "rowProblem": .text(problem ?? ""), "problemID": .text("problem-\(key)"),
        ]
    }

    private static func label(_ kind: Kind, _ column: Column) -> Phrase {
        switch column {
        case .name:
            switch kind {
            case .variable: .columnVariable
            case .sound: .columnSound
            case .parameter: .columnParameter
            }
        case .type: .columnType
        case .default: .columnDefault
        case .label: .fieldLabel
        case .origin: .columnOrigin
        case .column: .columnKept
        case .zone: .columnZone
        }
    }

    private static func options(_ column: Column, _ catalogue: Catalogue) -> [FormOption]? {
        switch column {
        case .type: ApplicationVariable.Kind.allCases.map { FormOption($0.rawValue, $0.rawValue) }
        case .origin:
            [FormOption("", catalogue[.soundOfApplication]), FormOption(system, catalogue[.soundOfSystem])]
        case .zone: [FormOption("", catalogue[.choiceNo]), FormOption(isZone, catalogue[.choiceYes])]
        default: nil
        }
    }

    /// The subscriber columns that a form offers; the last two are prefixes of a name.
    static let columns = ["user_key", "locale", "time_zone", "recipient.", "parameters."]
}

extension DeclarationError {
    /// The problem and its remedy, to be shown at a field, which names the thing.
    var sentence: String {
        let text = "\(cause); \(remedy)"
        return text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }
}
