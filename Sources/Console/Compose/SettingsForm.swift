import Content
import PushCore
import Store

/// The typed settings of a delivery: rate, validity, priority, and what to do after failures.
///
/// A value's name is a prefix and the name of a template's setting. An empty value means the default.
struct SettingsForm: Sendable {
    /// The settings, in the order of the form.
    enum Setting: Sendable, CaseIterable {
        case category, rate, validity, priority, weight, retries, schedule, pause, policy, person, code, seeds

        /// The setting's definition; nil for one-time codes, which are not a setting of templates.
        var definition: DeliverySetting? {
            switch self {
            case .category: .category
            case .rate: .rate
            case .validity: .validity
            case .priority: .priority
            case .weight: .weight
            case .retries: .maxRetries
            case .schedule: .retrySchedule
            case .pause: .retryPeriod
            case .policy: .ambiguityPolicy
            case .person: .onePerUser
            case .code: nil
            case .seeds: .allSeeds
            }
        }

        /// The setting's name in templates.
        var name: String { definition?.rawValue ?? "one_time_code" }

        /// The name of the setting's field.
        var field: String { SettingsForm.prefix + name }

        /// Whether it is true or false.
        fileprivate var isFlag: Bool { definition.map { $0.form == .flag } ?? true }

        /// The range of a number; nil for a choice.
        fileprivate var range: ClosedRange<Int64>? {
            switch definition?.form {
            case .integer(let range)?: range
            case .number(let range)?: Int64(range.lowerBound.rounded(.up))...Int64(range.upperBound)
            case .flag?, .choice?, .word?, nil: nil
            }
        }

        fileprivate var words: (label: Phrase, hint: Phrase) {
            switch self {
            case .category: (.settingCategory, .settingCategoryHint)
            case .rate: (.settingRate, .settingRateHint)
            case .validity: (.settingValidity, .settingValidityHint)
            case .priority: (.settingPriority, .settingPriorityHint)
            case .weight: (.settingWeight, .settingWeightHint)
            case .retries: (.settingRetries, .settingRetriesHint)
            case .schedule: (.settingSchedule, .settingScheduleHint)
            case .pause: (.settingPause, .settingPauseHint)
            case .policy: (.settingPolicy, .settingPolicyHint)
            case .person: (.settingPerson, .settingPersonHint)
            case .code: (.settingCode, .settingCodeHint)
            case .seeds: (.settingSeeds, .settingSeedsHint)
            }
        }

        /// The choice that an empty field means, the setting's default; nil for a number.
        var usualChoice: String? {
            switch definition?.defaultValue {
            case .boolean(let flag)?: return flag ? "true" : "false"
            case .string(let word)?: return choice(word)
            default: return isFlag ? "false" : nil
            }
        }

        /// The choice for a template's word. The schedule by kind is that of a batch delivery: only these are composed
        /// here.
        fileprivate func choice(_ word: String) -> String {
            guard self == .schedule, let setting = RetryPolicy.ScheduleSetting(rawValue: word) else { return word }
            return setting.schedule(isContinuous: false).rawValue
        }

        /// The choices.
        var choices: [(value: String, name: Phrase)] {
            switch self {
            case .schedule:
                [
                    (RetryPolicy.ScheduleSetting.daily.rawValue, .settingScheduleDaily),
                    (RetryPolicy.ScheduleSetting.exponential.rawValue, .settingScheduleExponential),
                ]
            case .policy:
                [
                    (AmbiguityPolicy.resend.rawValue, .settingPolicyResend),
                    (AmbiguityPolicy.report.rawValue, .settingPolicyReport),
                ]
            case .person: [("false", .settingPersonAll), ("true", .settingPersonOne)]
            case .code: [("false", .settingCodeNo), ("true", .settingCodeYes)]
            case .seeds:
                [
                    ("false", .settingSeedsNo), ("true", .settingSeedsAll),
                    (SettingsForm.named, .settingSeedsNamed),
                ]
            default: []
            }
        }
    }

    /// The settings of the step *Limits*, and those of the last step.
    static let limits: [Setting] = [.category, .code, .rate]
    static let others = Setting.allCases.filter { !limits.contains($0) }

    /// The units of the validity.
    private enum Unit: String, CaseIterable {
        case days, hours, minutes, seconds

        var seconds: Int64 {
            switch self {
            case .days: 86_400
            case .hours: 3_600
            case .minutes: 60
            case .seconds: 1
            }
        }

        var name: Phrase {
            switch self {
            case .days: .unitDays
            case .hours: .unitHours
            case .minutes: .unitMinutes
            case .seconds: .unitSeconds
            }
        }
    }

    /// The prefix of the values' names.
    fileprivate static let prefix = "settings."
    /// The names of the seed addresses that a duplicated delivery named, one per line; no field changes them.
    private static let seedNames = prefix + seeds
    /// The name of this setting.
    private static let seeds = "seeds"
    /// The choice of these seed addresses.
    fileprivate static let named = "named"
    /// The name of the validity's unit.
    private static let unitField = prefix + "validity_unit"

    /// The values of a draft, by name.
    let values: [String: String]
    let catalogue: Catalogue
    /// The categories of the services of the draft's applications.
    var categories: [CategoryRow] = []

    /// The settings of a template as values of a form.
    static func values(json: String) -> [String: String] {
        var texts = ContentForm.texts(json: json)
        // A template may write a number in any way; the form shows it in its own.
        for setting in Setting.allCases where setting.range != nil {
            guard let number = texts[setting.name].flatMap({ Double($0) }) else { continue }
            texts[setting.name] = setting == .rate ? RateNumber.text(number) : RateNumber.plain(number)
        }
        var values: [String: String] = [:]
        if let seconds = texts[Setting.validity.name].flatMap({ Int64($0) }) {
            let unit = Unit.allCases.first { seconds.isMultiple(of: $0.seconds) } ?? .seconds
            texts[Setting.validity.name] = "\(seconds / unit.seconds)"
            values[unitField] = unit.rawValue
        }
        for setting in Setting.allCases {
            let text = texts[setting.name].map(setting.choice)
            values[setting.field] = text == setting.usualChoice ? nil : text
        }
        if let names = texts[seeds], !names.isEmpty {
            values[seedNames] = names
            values[Setting.seeds.field] = named
        }
        return values
    }

    /// Takes the settings of a form; settings that the form does not have stay.
    static func take(_ form: FormParameters, into values: inout [String: String]) {
        let usual = Setting.allCases.map { ($0.field, $0.usualChoice ?? "") }
        for (name, usual) in usual + [(unitField, Unit.days.rawValue)] {
            guard let text = form[name]?.trimmed else { continue }
            values[name] = text.isEmpty || text == usual ? nil : text
        }
    }

    /// The settings as JSON for a template, without defaults and invalid values.
    var json: String { json(with: DeliveryPlan()) }

    /// The same, with the delivery's plan if it says something.
    func json(with plan: DeliveryPlan) -> String {
        var entries = Setting.allCases.compactMap { setting in
            value(setting).map { JSONEntry(name: setting.name, value: $0) }
        }
        if plan != DeliveryPlan() { entries.append(JSONEntry(name: "plan", value: plan.json)) }
        if text(.seeds) == Self.named, !namedSeeds.isEmpty {
            entries.append(JSONEntry(name: Self.seeds, value: .array(namedSeeds.map { .string($0) })))
        }
        return JSONValue.object(entries).compactText
    }

    /// Whether a typed value is invalid.
    var isWrong: Bool { isWrong(among: Setting.allCases) }

    /// The same for some settings.
    func isWrong(among settings: [Setting]) -> Bool { settings.contains { isWrong($0) } }

    private func text(_ setting: Setting) -> String { values[setting.field] ?? "" }

    private var namedSeeds: [String] { (values[Self.seedNames] ?? "").split(separator: "\n").map(String.init) }

    private func isWrong(_ setting: Setting) -> Bool { !text(setting).isEmpty && value(setting) == nil }

    private var unit: Unit { values[Self.unitField].flatMap { Unit(rawValue: $0) } ?? .days }

    /// The typed value; nil if nothing was typed, or it is invalid.
    private func value(_ setting: Setting) -> JSONValue? {
        let text = text(setting)
        guard setting != .category else { return isCategory(text) ? .string(text) : nil }
        guard let range = setting.range else {
            guard setting.choices.contains(where: { $0.value == text }) else { return nil }
            return setting.isFlag ? .boolean(text == "true") : .string(text)
        }
        switch setting {
        case .rate:
            return RateNumber.parse(text).map { .number(RateNumber.plain($0)) }
        case .validity:
            guard let number = Self.integer(text), (1...range.upperBound / unit.seconds).contains(number) else {
                return nil
            }
            return .number("\(number * unit.seconds)")
        default:
            guard let number = Self.integer(text), range.contains(number) else { return nil }
            return .number("\(number)")
        }
    }

    /// Whether the draft may have a category. A template has no applications yet, so any name may be one of theirs.
    private func isCategory(_ name: String) -> Bool {
        DeliverySetting.isCategory(name) && (categories.isEmpty || categories.contains { $0.name == name })
    }

    private static func integer(_ text: String) -> Int64? {
        // Pages show a minus sign, but keyboards have a hyphen.
        let text = text.replacing("\u{2212}", with: "-")
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        // No setting has more than nine digits.
        guard (1...9).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

extension SettingsForm {
    /// The values of the page's template for the fields of some settings.
    ///
    /// - Parameters:
    ///   - refused: the setting that the database refused; nil if it refused none.
    ///   - words: why.
    func fields(_ settings: [Setting], refused: Setting? = nil, _ words: String = "") -> [PageValues] {
        settings.map { field($0, refusal: $0 == refused ? words : nil) }
    }

    private func field(_ setting: Setting, refusal: String?) -> PageValues {
        let problem: String? = isWrong(setting) ? self.problem(setting) : refusal
        let told: [PageValues] = problem.map { [["words": .text($0)]] } ?? []
        let words = setting.words
        let choices = choices(setting)
        let isChoice = !choices.isEmpty
        var values: PageValues = [
            "name": .text(setting.field), "label": .text(catalogue[words.label]), "value": .text(text(setting)),
            "placeholder": .text(placeholder(setting)),
            "hint": .text(hint(setting)), "hasHint": .flag(true), "isWrong": .flag(!told.isEmpty),
            "problems": .list(told),
            "isLine": .flag(!isChoice), "isTall": .flag(false),
        ]
        if isChoice {
            let chosen = text(setting).isEmpty ? setting.usualChoice ?? "" : text(setting)
            values["choice"] = .group([
                "words": .list(
                    choices.map { value, name in
                        ["value": .text(value), "name": .text(name), "isChosen": .flag(value == chosen)]
                    }
                )
            ])
        }
        if setting == .validity {
            values["unit"] = .group([
                "unitName": .text(Self.unitField), "unitLabel": .text(catalogue[.settingValidityUnit]),
                "units": .list(
                    Unit.allCases.map { other in
                        [
                            "value": .text(other.rawValue), "name": .text(catalogue[other.name]),
                            "isChosen": .flag(other == unit),
                        ]
                    }
                ),
            ])
        }
        return values
    }

    /// The choices with their names in the user's language.
    private func choices(_ setting: Setting) -> [(value: String, name: String)] {
        guard setting == .category else {
            return setting.choices.filter { $0.value != Self.named || !namedSeeds.isEmpty }.map { value, name in
                let isNamed = value == Self.named
                return (
                    value: value,
                    name: isNamed ? catalogue.text(name, namedSeeds.joined(separator: ", ")) : catalogue[name]
                )
            }
        }
        var all = [(value: "", name: catalogue[.settingCategoryUsual])]
        all += categories.map { (value: $0.name, name: $0.label.isEmpty ? $0.name : $0.label) }
        // What a template or another delivery says is shown, even if the service does not have it.
        let given = text(setting)
        if !all.contains(where: { $0.value == given }) { all.append((value: given, name: given)) }
        return all
    }

    /// Whether the messages also go to people who opted out.
    static func isOneTimeCode(_ values: [String: String]) -> Bool { values[Setting.code.field] == "true" }

    /// Whether only one device of each person gets the message.
    static func isOnePerUser(_ values: [String: String]) -> Bool { values[Setting.person.field] == "true" }

    /// The default, as a placeholder. That of the validity is in days, so it is shown only with that unit.
    private func placeholder(_ setting: Setting) -> String {
        guard setting == .validity else { return usual(setting) }
        return unit == .days ? Self.usualDays : ""
    }

    /// The default validity in days.
    private static let usualDays = "\(DeliverySetting.defaultValiditySeconds / Unit.days.seconds)"

    /// The default of `create_delivery`.
    private func usual(_ setting: Setting) -> String {
        switch setting {
        case .category: return catalogue[.settingCategoryUsual]
        case .rate: return catalogue[.settingRateUsual]
        case .validity: return "\(Self.usualDays) \(catalogue[.unitDays])"
        case .pause: return catalogue[.settingPauseUsual]
        case .priority, .weight, .retries:
            guard case .number(let digits)? = setting.definition?.defaultValue else { return "" }
            return digits
        case .schedule, .policy, .person, .code, .seeds:
            let choice = setting.choices.first { $0.value == setting.usualChoice }
            return choice.map { catalogue[$0.name] } ?? ""
        }
    }

    /// What a setting means, with its range and its default.
    private func hint(_ setting: Setting) -> String {
        let phrase = setting.words.hint
        switch setting {
        case .validity: return catalogue.text(phrase, usual(setting))
        case .priority, .weight, .retries:
            guard let range = setting.range else { return catalogue[phrase] }
            let (minimum, maximum) = (Figures.count(range.lowerBound), Figures.count(range.upperBound))
            return catalogue.text(phrase, minimum, maximum, usual(setting))
        case .pause:
            let seconds = { (schedule: RetryPolicy.Schedule) in Figures.count(schedule.usualSeconds) }
            return catalogue.text(phrase, seconds(.daily), seconds(.exponential))
        case .category, .rate, .schedule, .policy, .person, .code, .seeds: return catalogue[phrase]
        }
    }

    private func problem(_ setting: Setting) -> String {
        guard let range = setting.range else { return catalogue.text(.settingUnknown, text(setting)) }
        let maximum = setting == .validity ? range.upperBound / unit.seconds : range.upperBound
        let minimum =
            setting == .rate
            ? RateNumber.shown(DeliverySetting.rates.lowerBound) : Figures.count(range.lowerBound)
        let most = Figures.count(maximum) + (setting == .validity ? " " + catalogue[unit.name] : "")
        let words = catalogue.text(.settingNoNumber, text(setting), minimum, most)
        return RateNumber.isGrouped(text(setting)) ? words + " " + catalogue[.settingSeparator] : words
    }

    /// All settings with their effective values, for the confirmation of the start.
    var facts: [(name: String, value: String)] { facts(Setting.allCases) }

    /// The same for some settings.
    func facts(_ settings: [Setting]) -> [(name: String, value: String)] {
        settings.map { (catalogue[$0.words.label], shown($0)) }
    }

    /// The name of the category that the delivery gets.
    var category: String { value(.category).map { _ in text(.category) } ?? Self.usualCategory }

    /// The category of a delivery that names none, if its service has it.
    private static let usualCategory = "marketing"

    private func shown(_ setting: Setting) -> String {
        let text = text(setting)
        guard value(setting) != nil else { return usual(setting) }
        if let chosen = choices(setting).first(where: { $0.value == text }) { return chosen.name }
        if setting == .rate { return RateNumber.parse(text).map(RateNumber.shown) ?? text }
        guard let number = Self.integer(text) else { return text }
        let count = Figures.count(number)
        return setting == .validity ? "\(count) \(catalogue[unit.name])" : count
    }
}
