import PushCore

/// A field of a form.
struct FormField: Sendable {
    /// What a field holds.
    enum Kind: Sendable {
        /// A line of text.
        case text
        /// A line that is not shown while it is typed.
        case secret
        /// Several lines that are never shown again, with a file that a script can read into them.
        case file
        /// One of these; the first is "none" if the choice is optional.
        case choice([FormOption])
        /// Yes or no.
        case tick
    }

    let name: String
    let label: String
    let kind: Kind
    var hint = ""
    var isRequired = false
    /// The initial value.
    var value = ""
    /// The maximum length of a line in characters; the database checks names.
    var maxLength = 1_000
    /// A browser cuts what is pasted at the maximum length, without a word. So it knows only that of names and numbers;
    /// a longer text is refused.
    private static let longestCut = 500

    /// What is wrong with a typed line: a name that is missing, or a text that is too long; nil if nothing is.
    func lineProblem(_ typed: String) -> String? {
        if isName, typed.isEmpty { return Catalogue.current[.nameMissing] }
        let count = typed.unicodeScalars.count
        guard case .text = kind, maxLength > Self.longestCut, count > maxLength else { return nil }
        return Catalogue.current.text(
            .experimentTextLong,
            Figures.count(Int64(maxLength)),
            Figures.count(Int64(count))
        )
    }
    /// What counts a line while it is typed.
    var counter: TextCounter?
    /// Whether a browser keeps nothing of it, as it may be the push token or key of a person.
    var isPersonal = false
    /// Whether it names the thing, which cannot be without.
    var isName = false

    /// The field for the name of a declared thing.
    static func ofName(_ name: String, _ hint: String, _ catalogue: Catalogue) -> FormField {
        var field = FormField(
            name: name,
            label: catalogue[.fieldName],
            kind: .text,
            hint: hint,
            isRequired: true,
            maxLength: NameRule.maxNameLength
        )
        field.isName = true
        return field
    }

    /// What a template shows; typed text replaces the initial value.
    ///
    /// - Parameter problem: what is wrong with the field, shown next to it.
    func values(_ typed: [String: String]?, problem: String? = nil) -> PageValues {
        let shown = typed.map { $0[name] ?? "" } ?? value
        var values: PageValues = [
            "name": .text(name), "label": .text(label), "isRequired": .flag(isRequired), "most": .text("\(maxLength)"),
            "isCut": .flag(isCut), "isPersonal": .flag(isPersonal),
            "value": .text(shown), "isLine": .flag(false), "isFile": .flag(false), "isChoice": .flag(false),
            "isTick": .flag(false), "isWrong": .flag(problem != nil), "fieldProblem": .text(problem ?? ""),
            "isDescribed": .flag(problem != nil || !hint.isEmpty),
        ]
        if !hint.isEmpty { values["hint"] = .text(hint) }
        if let counter { values["counter"] = counter.values(of: "field-\(name)", .current) }
        switch kind {
        case .text:
            values["isLine"] = .flag(true)
            values["type"] = "text"
        case .secret:
            values["isLine"] = .flag(true)
            values["type"] = "password"
            values["value"] = ""
        case .file:
            values["isFile"] = .flag(true)
            values["value"] = ""
        case .choice(let options):
            values["isChoice"] = .flag(true)
            values["options"] = .list(
                options.map { option in
                    [
                        "value": .text(option.value), "name": .text(option.name),
                        "isChosen": .flag(option.value == shown),
                    ]
                }
            )
        case .tick:
            values["isTick"] = .flag(true)
            values["isOn"] = .flag(shown == Self.yes)
        }
        return values
    }

    private var isCut: Bool {
        if case .text = kind { maxLength <= Self.longestCut } else { true }
    }

    /// The value that a ticked box sends.
    static let yes = "yes"
}
