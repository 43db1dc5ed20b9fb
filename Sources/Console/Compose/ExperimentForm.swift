import Content
import PushCore
import Store

/// The experiment of a draft: shares and texts of variants, and how the winner for the rest is found.
///
/// The first variant is the content itself. The others have texts of their own; an empty one is that of the content.
struct ExperimentForm: Sendable {
    /// The names of a draft's values, which are those of the fields.
    enum Name {
        static let prefix = "experiment."
        static let metric = prefix + "metric"
        static let hours = prefix + "hours"
        static let early = prefix + "early"
        static let certainty = prefix + "certainty"
        static let sample = prefix + "sample"
        static let holdOut = prefix + "hold_out"
        static let undecided = prefix + "undecided"

        static func percent(_ variant: Int) -> String { "\(prefix)\(variant).percent" }

        static func isOf(_ variant: Int, _ name: String) -> Bool { name.hasPrefix("\(prefix)\(variant).") }

        /// - Parameter locale: nil for the default text.
        static func text(_ variant: Int, _ key: String, _ locale: String?) -> String {
            "\(prefix)\(variant).\(key)" + (locale.map { ".\($0)" } ?? "")
        }
    }

    /// The texts of a content that a variant may change, and their labels.
    static let texts: [(key: String, label: Phrase)] = [
        ("title", .experimentTextTitle), ("body", .experimentTextBody),
    ]
    /// What a ticked box is when it is not ticked.
    static let no = "no"
    private static let variants = 1...ExperimentRule.variantCounts.upperBound
    private static let secondsOfHour = 3_600.0
    private static let longestHours = 0.01...8_784.0
    /// The characters of a text. Browsers take longer ones, which would otherwise be cut without a word.
    private static let (longestText, longestTyped) = (4_000, 100_000)
    /// Sums of fractions are not exact.
    private static let rounding = 1e-9
    /// Hours from a time in UTC until the last zone has it: no zone is further behind.
    private static let lastZoneHours: Int64 = 12

    let composed: ComposedDraft
    let catalogue: Catalogue

    private var values: [String: String] { composed.draft.fields }

    /// Whether the draft has variants.
    var isOn: Bool { Self.variants.contains { values[Name.percent($0)] != nil } }

    /// Whether something is typed although there is no experiment.
    var isOff: Bool { !isOn && values.keys.contains { $0.hasPrefix(Name.prefix) } }

    /// Takes the values of a form. Without a share there is no experiment, but what else is typed stays, and so do texts
    /// that the form does not have, such as those of a language that the content has no more.
    static func take(_ form: FormParameters, into fields: inout [String: String]) {
        for (name, value) in form.values where name.hasPrefix(Name.prefix) {
            fields[name] = value.trimmed.isEmpty ? nil : value.trimmed
        }
        if form[Name.early] == nil { fields[Name.early] = no }
        // Choices are always there, and alone say nothing.
        let choices = [Name.metric, Name.undecided, Name.early]
        guard !fields.keys.contains(where: { $0.hasPrefix(Name.prefix) && !choices.contains($0) }) else { return }
        for name in choices { fields[name] = nil }
    }

    /// The names of A, B, C and so on.
    private static func letter(_ variant: Int) -> String {
        String(UnicodeScalar(UInt8(ascii: "A") + UInt8(variant - 1)))
    }

    // What is typed.

    /// The experiment; nil if there is none. Throws what is wrong, by field.
    func rule() throws(FormRefusal) -> ExperimentRule? {
        guard isOn else { return nil }
        var problems: [String: String] = [:]
        let used = Self.variants.filter { values[Name.percent($0)] != nil }
        var rule = ExperimentRule(
            variants: used.map { variant in
                ExperimentRule.Variant(
                    label: Self.letter(variant),
                    percent: number(Name.percent(variant), ExperimentRule.percents, &problems) ?? 0,
                    content: content(variant)
                )
            }
        )
        if used.count < ExperimentRule.variantCounts.lowerBound {
            problems[Name.percent(used == [1] ? 2 : 1)] = catalogue[.experimentTwoWrong]
        }
        if let metric = values[Name.metric].flatMap({ ExperimentRule.Metric(rawValue: $0) }) { rule.metric = metric }
        if let what = values[Name.undecided].flatMap({ ExperimentRule.Undecided(rawValue: $0) }) {
            rule.ifUndecided = what
        }
        rule.isEarly = values[Name.early] != Self.no
        if let hours = number(Name.hours, Self.longestHours, &problems) {
            rule.decideAfterSeconds = max(1, Int64((hours * Self.secondsOfHour).rounded()))
        }
        if let percent = number(Name.certainty, ExperimentRule.certainties, &problems) {
            rule.certaintyPercent = percent
        }
        if let percent = number(Name.holdOut, ExperimentRule.holdOuts, &problems) { rule.holdOutPercent = percent }
        let samples = Double(ExperimentRule.samples.lowerBound)...Double(ExperimentRule.samples.upperBound)
        if let sample = number(Name.sample, samples, &problems) { rule.leastSample = Int64(sample) }
        problems.merge(longTexts) { old, _ in old }
        if problems.isEmpty { problems = self.problems(rule, last: used.last ?? 1) }
        if !problems.isEmpty { throw FormRefusal(problems) }
        return rule
    }

    /// The texts that are too long.
    private var longTexts: [String: String] {
        let locales = [nil] + composed.form.localeNames.map(Optional.some)
        let names = Self.variants.flatMap { variant in
            locales.flatMap { locale in Self.texts.map { Name.text(variant, $0.key, locale) } }
        }
        return names.reduce(into: [:]) { problems, name in
            guard let count = values[name]?.count, count > Self.longestText else { return }
            problems[name] = catalogue.text(
                .experimentTextLong,
                Figures.count(Int64(Self.longestText)),
                Figures.count(Int64(count))
            )
        }
    }

    /// The share of those who get the winner, in percent.
    private static func rest(_ rule: ExperimentRule) -> Double {
        100 - rule.holdOutPercent - rule.variants.reduce(0) { $0 + $1.percent }
    }

    /// Whether people are left who get the winner; false if something is wrong with the experiment.
    var hasRest: Bool {
        guard let rule = try? rule() else { return false }
        return Self.rest(rule) > Self.rounding
    }

    /// What is wrong with the shares together.
    private func problems(_ rule: ExperimentRule, last: Int) -> [String: String] {
        let rest = Self.rest(rule)
        if rest < -Self.rounding { return [Name.percent(last): catalogue[.experimentSumWrong]] }
        if rest > Self.rounding, rule.decideAfterSeconds == nil {
            return [Name.hours: catalogue[.experimentHoursMissing]]
        }
        return [:]
    }

    private func number(_ name: String, _ range: ClosedRange<Double>, _ problems: inout [String: String]) -> Double? {
        guard let text = values[name] else { return nil }
        let number = RateNumber.isGrouped(text) ? nil : Double(text.replacing(",", with: "."))
        if let number, range.contains(number) { return number }
        problems[name] = catalogue.text(
            .experimentNumberWrong,
            RateNumber.shown(range.lowerBound),
            RateNumber.shown(range.upperBound)
        )
        return nil
    }

    /// The draft's values with the texts of a variant.
    private func changed(_ variant: Int) -> [String: String] {
        var changed = composed.draft.fields
        for locale in [nil] + composed.form.localeNames.map(Optional.some) {
            for (key, _) in Self.texts {
                guard let text = values[Name.text(variant, key, locale)] else { continue }
                let path = locale.map { "locales.\($0)." } ?? ""
                for platform in composed.platforms { changed["\(path)\(platform.rawValue).\(key)"] = text }
            }
        }
        return changed
    }

    /// The content of a variant; nil if it has no texts of its own.
    private func content(_ variant: Int) -> String? {
        let changed = changed(variant)
        guard changed != composed.draft.fields else { return nil }
        var other = composed
        other.draft.fields = changed
        return other.form.content().json
    }

    // What is shown.

    /// The experiment in a line; "" if there is none, or something is wrong with it.
    var summary: String {
        guard let rule = try? rule() else { return "" }
        return ExperimentSummary(rule).words(catalogue)
    }

    /// That none of its variants can win among so many people; "" if one can, or their number is not known.
    func doubt(_ audience: Composer.Audience) -> String {
        guard let rule = try? rule(), let count = audience.count,
            let least = rule.variants.min(by: { $0.percent < $1.percent })
        else { return "" }
        // An estimate may be too small.
        let most = Double(count.count + (count.error ?? 0)) * least.percent / 100
        let words = catalogue.doubt(about: least.label ?? "", messages: Int64(most.rounded(.up)), rule.leastSample)
        return words.isEmpty ? "" : "\(words) \(catalogue[.experimentDoubtRemedy])"
    }

    /// The texts that readers with a locale get of a variant; nil: everybody else.
    private func read(_ variant: Int, _ locale: String?) -> [String] {
        let changed = changed(variant)
        return composed.platforms.flatMap { platform in
            Self.texts.map { key, _ -> String in
                let main = "\(platform.rawValue).\(key)"
                return locale.flatMap { changed["locales.\($0).\(main)"] } ?? changed[main] ?? ""
            }
        }
    }

    /// The variants that say the same, to everybody or to the readers of some locales: nothing can be learnt from them.
    var sameness: [String] {
        let used = Self.variants.filter { values[Name.percent($0)] != nil }
        let locales = composed.form.localeNames.map(Optional.some) + [nil]
        return used.enumerated().flatMap { place, variant in
            used.prefix(place).compactMap { other -> String? in
                let same = locales.filter { read(variant, $0) == read(other, $0) }
                let names = (Self.letter(other), Self.letter(variant))
                guard !same.isEmpty else { return nil }
                guard same.count < locales.count else { return catalogue.text(.variantsSame, names.0, names.1) }
                let readers = same.map { $0 ?? catalogue[.localeEverybody] }
                return catalogue.text(.variantsSameFor, names.0, names.1, readers.joined(separator: ", "))
            }
        }
    }

    static func name(_ metric: ExperimentRule.Metric) -> Phrase {
        switch metric {
        case .clicks: .metricClicks
        case .receipts: .metricReceipts
        case .conversions: .metricConversions
        }
    }

    private static func name(_ undecided: ExperimentRule.Undecided) -> Phrase {
        switch undecided {
        case .first: .undecidedFirst
        case .wait: .undecidedWait
        }
    }

    /// The fields of the variants that are used, and of one more, then those of the decision.
    var fields: [FormField] {
        let used = Self.variants.last { variant in values.keys.contains { Name.isOf(variant, $0) } } ?? 1
        let shown = 1...min(used + 1, Self.variants.upperBound)
        let metrics = ExperimentRule.Metric.allCases.map { FormOption($0.rawValue, catalogue[Self.name($0)]) }
        let choices = ExperimentRule.Undecided.allCases.map { FormOption($0.rawValue, catalogue[Self.name($0)]) }
        return shown.flatMap(variantFields) + [
            line(Name.holdOut, catalogue[.experimentHoldOut], .experimentHoldOutHint),
            FormField(
                name: Name.metric,
                label: catalogue[.experimentMetric],
                kind: .choice(metrics),
                isRequired: true,
                value: values[Name.metric] ?? ExperimentRule.Metric.clicks.rawValue
            ),
            hours,
            FormField(
                name: Name.early,
                label: catalogue[.experimentEarly],
                kind: .tick,
                value: values[Name.early] == Self.no ? "" : FormField.yes
            ),
            line(Name.certainty, catalogue[.experimentCertainty], .experimentCertaintyHint),
            line(Name.sample, catalogue[.experimentSample], .experimentSampleHint),
            FormField(
                name: Name.undecided,
                label: catalogue[.experimentUndecided],
                kind: .choice(choices),
                isRequired: true,
                value: values[Name.undecided] ?? ExperimentRule.Undecided.first.rawValue
            ),
        ]
    }

    /// When the last zone has the local time; nil if there is none.
    private var lastLocalTime: DatabaseTime? {
        let typed = (values[PlanForm.localTime] ?? "").replacing(" ", with: "T")
        guard case .some(.some(let local)) = Composer.moment(typed, isNow: false) else { return nil }
        return local.advanced(byMilliseconds: Self.lastZoneHours * Int64(Self.secondsOfHour) * 1_000)
    }

    /// The hours until the decision. With a local time, that comes when the last zone has it.
    private var hours: FormField {
        var field = line(Name.hours, catalogue[.experimentHours], .experimentHoursHint)
        if let last = lastLocalTime {
            field.hint += " " + catalogue.text(.experimentHoursLocal, Figures.minute(last))
        }
        return field
    }

    /// When the winner is decided after a start, and when the local time has come everywhere, if that is later; nil if
    /// it is not.
    private func tooEarly(_ start: DatabaseTime) -> (decision: String, last: String)? {
        guard let rule = try? rule(), Self.rest(rule) > Self.rounding, let seconds = rule.decideAfterSeconds,
            let last = lastLocalTime
        else { return nil }
        let decision = start.advanced(byMilliseconds: seconds * 1_000)
        return decision <= last ? (Figures.minute(decision), Figures.minute(last)) : nil
    }

    /// That the winner would be decided too early after the draft's start; nil if it would not.
    func tooEarly(after start: DatabaseTime) -> String? {
        tooEarly(start).map { catalogue.text(.experimentTooEarly, $0.decision, $0.last) }
    }

    /// The same for a draft without a start; it may get one that is late enough.
    var tooEarlyNow: String? {
        guard values[ChosenStart.Name.kind] == nil, let now = composed.readAt else { return nil }
        return tooEarly(now).map { catalogue.text(.experimentTooEarlyNow, $0.decision, $0.last) }
    }

    private func variantFields(_ variant: Int) -> [FormField] {
        let letter = Self.letter(variant)
        let share = line(
            Name.percent(variant),
            catalogue.text(.experimentShare, letter),
            variant == 1 ? .experimentShareHint : nil
        )
        guard variant > 1 else { return [share] }
        let locales = [nil] + composed.form.localeNames.map(Optional.some)
        // Each platform gets the text.
        let counter = composed.payloadLimits.values.min().map(TextCounter.init)
        return [share]
            + locales.flatMap { locale in
                Self.texts.map { text -> FormField in
                    let label = catalogue.text(text.label, letter) + (locale.map { " (\($0))" } ?? "")
                    var field = line(Name.text(variant, text.key, locale), label, .experimentTextHint)
                    field.counter = counter
                    return field
                }
            }
    }

    private func line(_ name: String, _ label: String, _ hint: Phrase?) -> FormField {
        FormField(
            name: name,
            label: label,
            kind: .text,
            hint: hint.map { catalogue[$0] } ?? "",
            value: values[name] ?? "",
            maxLength: Self.longestTyped
        )
    }
}

extension Catalogue {
    /// That an experiment finds no winner, because a variant gets fewer messages than each needs; "" if it gets enough.
    func doubt(about variant: String, messages: Int64, _ leastSample: Int64) -> String {
        guard messages < leastSample else { return "" }
        return text(.experimentDoubt, variant, Figures.count(messages), Figures.count(leastSample))
    }
}
