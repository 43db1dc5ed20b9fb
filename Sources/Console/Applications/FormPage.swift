import HTTPTypes
import PushCore
import Store

/// One of the things that a field offers to choose from.
struct FormOption: Sendable {
    /// What is sent.
    let value: String
    /// What is shown.
    let name: String

    init(_ value: String, _ name: String) {
        self.value = value
        self.name = name
    }
}

/// A field of a form.
struct FormField: Sendable {
    /// What a person gives.
    enum Kind: Sendable {
        /// A line of text.
        case text
        /// A line that is not shown while it is typed.
        case secret
        /// A line that is not shown again when the form comes back, as it may be a push token.
        case once
        /// Some lines that are never shown again, with a file that a script can read into them.
        case file
        /// One of these, the first of them being none where nothing must be chosen.
        case choice([FormOption])
        /// Yes or no.
        case tick
    }

    let name: String
    let label: String
    let kind: Kind
    var hint = ""
    var isRequired = false
    /// What it has before somebody types.
    var value = ""
    /// Characters of a line; those of names are the database's to judge.
    var most = 1_000

    /// The name of what is declared.
    static func ofName(_ name: String, _ hint: String, _ catalogue: Catalogue) -> FormField {
        FormField(
            name: name,
            label: catalogue[.fieldName],
            kind: .text,
            hint: hint,
            isRequired: true,
            most: NameRule.longestName
        )
    }

    /// What a template shows; what a person typed before takes the place of the first value.
    ///
    /// - Parameter problem: what is wrong with it, to stand at it.
    func values(_ typed: [String: String]?, problem: String? = nil) -> PageValues {
        let shown = typed.map { $0[name] ?? "" } ?? value
        var values: PageValues = [
            "name": .text(name), "label": .text(label), "isRequired": .flag(isRequired), "most": .text("\(most)"),
            "value": .text(shown), "isLine": .flag(false), "isFile": .flag(false), "isChoice": .flag(false),
            "isTick": .flag(false), "isWrong": .flag(problem != nil), "fieldProblem": .text(problem ?? ""),
            "isDescribed": .flag(problem != nil || !hint.isEmpty),
        ]
        if !hint.isEmpty { values["hint"] = .text(hint) }
        switch kind {
        case .text:
            values["isLine"] = .flag(true)
            values["type"] = "text"
        case .secret, .once:
            values["isLine"] = .flag(true)
            if case .secret = kind { values["type"] = "password" } else { values["type"] = "text" }
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

    /// What a tick sends.
    static let yes = "yes"
}

/// A page with one form, which comes back with what was typed when it is refused.
struct FormPage: Sendable {
    let title: String
    /// Where it is sent to.
    let action: String
    /// Where a person goes who leaves it, and how that place is called.
    let back: (path: String, name: String)
    var intro = ""
    let fields: [FormField]
    /// What is sent along and not shown, such as what the thing was like when the form was made.
    var hidden: [String: String] = [:]
    let button: String
    /// Why there is no form now; "" if there is one.
    var obstacle = ""

    /// The form before somebody types.
    func reply() -> ConsoleReply { reply(typed: nil, refusal: nil) }

    /// The form again, with what is wrong.
    private func reply(typed: [String: String]?, refusal: FormRefusal?) -> ConsoleReply {
        let kept = hidden.map { name, value in (name: name, value: typed?[name] ?? value) }
        var values: PageValues = [
            "action": .text(action), "back": .text(back.path), "backName": .text(back.name), "button": .text(button),
            "fields": .list(fields.map { $0.values(typed, problem: refusal?.problems[$0.name]) }),
            "hidden": .list(kept.map { ["name": .text($0.name), "value": .text($0.value)] }),
            "hasForm": .flag(obstacle.isEmpty), "isStale": .flag(refusal?.isStale ?? false),
        ]
        if !intro.isEmpty { values["intro"] = .text(intro) }
        if !obstacle.isEmpty { values["obstacle"] = .text(obstacle) }
        if let refusal { values["problem"] = .text(refusal.words) }
        return .page(ConsolePage("form", title: title, values, status: refusal == nil ? .ok : .unprocessableContent))
    }

    /// Does what the form is for; what the store refuses because of what was typed comes back as the form with its words.
    func reply(to call: ConsoleCall, _ work: () async throws -> ConsoleReply) async throws -> ConsoleReply {
        do {
            return try await work()
        } catch let error as FormRefusal {
            return reply(typed: call.form.values, refusal: error)
        } catch let error as CredentialRefusal {
            return reply(typed: call.form.values, refusal: FormRefusal(words: error.description))
        } catch let error as StoreError {
            guard let refusal = FormRefusal(error) else { throw error }
            return reply(typed: call.form.values, refusal: refusal)
        }
    }
}

/// What was typed cannot be taken, in words for the person who typed it.
struct FormRefusal: Error {
    let words: String
    /// What is wrong with single fields, by their names.
    var problems: [String: String] = [:]
    /// Whether somebody else has changed the thing since the form was made.
    var isStale = false

    init(words: String) { self.words = words }

    /// Something is wrong with single fields.
    init(_ problems: [String: String]) {
        words = Catalogue.current[.formWrong]
        self.problems = problems
    }

    /// What the store refuses because of what was typed; nil for all else, such as a session that is over and a role that may not, which
    /// have pages of their own.
    init?(_ error: StoreError) {
        switch error.sqlState {
        case "PM090", "PM091": return nil
        case "PM132":
            words = Catalogue.current[.formStale]
            isStale = true
        default:
            guard [.invalid, .conflict, .notFound].contains(error.code) else { return nil }
            words = error.sqlState == nil ? error.description : error.message
        }
    }
}

extension ConsoleCall {
    /// What stands in a field, without blanks around it.
    func typed(_ name: String) -> String {
        (form[name] ?? "").trimmed
    }

    /// Whether a field is ticked.
    func isTicked(_ name: String) -> Bool { form[name] == FormField.yes }
}

/// Messages a second as a field of a form: empty where there is no limit.
enum RateField: Equatable {
    case none
    case messagesPerSecond(Double)
    case wrong

    static func field(_ name: String, _ catalogue: Catalogue, _ value: Double? = nil) -> FormField {
        FormField(
            name: name,
            label: catalogue[.fieldRate],
            kind: .text,
            hint: catalogue[.rateHint],
            value: value.map(RateNumber.text) ?? "",
            most: 20
        )
    }

    /// The rate that was typed.
    static func value(_ text: String) -> RateField {
        if text.isEmpty { return .none }
        return RateNumber.parse(text).map { .messagesPerSecond($0) } ?? .wrong
    }

    /// What is wrong with what was typed.
    static func problem(_ text: String, _ catalogue: Catalogue) -> String {
        let rates = DeliveryLimits.rates
        let words = catalogue.text(
            .rateWrong,
            RateNumber.text(rates.lowerBound),
            RateNumber.text(rates.upperBound)
        )
        return RateNumber.isGrouped(text) ? words + " " + catalogue[.settingSeparator] : words
    }

    /// The rate; nil for none.
    var messagesPerSecond: Double? {
        if case .messagesPerSecond(let rate) = self { rate } else { nil }
    }
}

/// Messages a second as people type and read them: the fraction stands behind a point or a comma, whatever the language.
enum RateNumber {
    /// What was typed; nil for what is no rate that there can be, and for what is thousands in some language: 1.000 and 1,000.
    static func parse(_ text: String) -> Double? {
        let parts = text.split(separator: /[.,]/, omittingEmptySubsequences: false)
        // No rate has more digits before the fraction, and no number of this kind more behind.
        guard (1...2).contains(parts.count), (1...9).contains(parts[0].utf8.count),
            parts.dropFirst().allSatisfy({ (1...20).contains($0.utf8.count) }), parts.allSatisfy(isDigits),
            !isGrouped(text), let rate = Double(text.replacing(",", with: ".")), DeliveryLimits.rates.contains(rate)
        else { return nil }
        return rate
    }

    /// Whether a text is digits in groups of three, as large numbers are written.
    static func isGrouped(_ text: String) -> Bool {
        text.wholeMatch(of: /[1-9][0-9]{0,2}([.,' \u{A0}\u{202F}][0-9]{3})+/) != nil
    }

    /// A rate as it stands in a field, so that it is read as the same again.
    static func text(_ rate: Double) -> String {
        let plain = plain(rate)
        // Three digits of a fraction could be thousands, four could not.
        return written(isGrouped(plain) ? plain + "0" : plain)
    }

    /// A rate as pages show it.
    static func shown(_ rate: Double) -> String {
        Int64(exactly: rate).map { Figures.count($0) } ?? written(plain(rate))
    }

    /// A rate as JSON has it.
    static func plain(_ rate: Double) -> String { Int64(exactly: rate).map { String($0) } ?? String(rate) }

    private static func written(_ plain: String) -> String {
        plain.replacing(".", with: NumberForm.current.decimal)
    }

    private static func isDigits(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
