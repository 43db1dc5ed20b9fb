import PushCore
import Store

/// The typed plan of a delivery: the recipient's time, waves, and what happens outside of the sending hours.
///
/// An empty value says nothing.
struct PlanForm: Sendable {
    /// The columns of a wave.
    enum Column: String, Sendable, CaseIterable {
        case size, begins, failed, tokens
        case optOuts = "opt_outs"
    }

    private static let prefix = "plan."
    static let localTime = prefix + "local_time"
    static let onPast = prefix + "on_past"
    static let hours = prefix + "hours"
    /// When the last wave, the rest, begins.
    static let restBegins = prefix + "rest.begins"
    /// The time zone of typed moments.
    static let zone = prefix + "zone"
    /// The maximum number of waves before the rest, and how many rows the form shows at first.
    private static let maxRows = 20
    private static let minRows = 4
    /// The limit of bad push tokens, in percent, that `pushmta.set_waves` gives to a first wave without one.
    private static let usualTokenErrors = 20.0

    static func field(_ row: Int, _ column: Column) -> String { "\(prefix)wave.\(row).\(column.rawValue)" }

    /// The values of a draft, by name.
    let values: [String: String]
    let catalogue: Catalogue
    /// The zone of typed moments, and those that the menu offers.
    var zone = ZoneMenu.utc
    var zones: [String] = []
    /// What typed moments are in the zone, by text; a moment in UTC needs none.
    var moments: [String: ZonedMoment] = [:]
    /// When they were read; nil if there are none.
    var now: DatabaseTime?
    /// Whether an experiment leaves people who get its winner.
    var hasRest = false

    /// The moments that are typed in a draft.
    static func moments(in values: [String: String]) -> [String] {
        let names = (0..<maxRows).map { field($0, .begins) } + [restBegins]
        return names.compactMap { values[$0] }.filter(DeliveryPlan.isLocalTime)
    }

    /// Takes the values of a form; rows without a value are dropped.
    static func take(_ form: FormParameters, into values: inout [String: String]) {
        for name in [localTime, onPast, hours, restBegins, zone] {
            let text = form[name]?.trimmed ?? ""
            values[name] = text.isEmpty ? nil : text
        }
        var row = 0
        for typed in 0..<maxRows {
            let texts = Column.allCases.map { ($0, (form[field(typed, $0)] ?? "").trimmed) }
            guard texts.contains(where: { !$0.1.isEmpty }) else { continue }
            for (column, text) in texts { values[field(row, column)] = text.isEmpty ? nil : text }
            row += 1
        }
        for row in row..<maxRows { for column in Column.allCases { values[field(row, column)] = nil } }
    }

    /// Doubts about the typed times: a local time that the zone's clock skips, and times that are over, which may have
    /// been kept from another delivery.
    var timeDoubts: [String] {
        var words: [String] = []
        if case .skipped? = moments[text(Self.localTime)] {
            words.append(catalogue.text(.localTimeSkipped, text(Self.localTime).replacing("T", with: " "), zone))
        }
        if isOver(text(Self.localTime)) {
            words.append(catalogue.text(.localTimeOver, Figures.local(text(Self.localTime), zone)))
        }
        let rows = self.rows
        let begins = (0..<rows).map { (row: "\(catalogue[.waveNumber]) \($0 + 1)", text: text($0, .begins)) }
        for (row, text) in begins + [(row: catalogue[.waveRest], text: text(Self.restBegins))] where isOver(text) {
            words.append(catalogue.text(.waveOver, row, Figures.local(text, zone)))
        }
        return words
    }

    /// That people get nothing with this start (nil: now), in the zone of the form. Nobody knows how many until the
    /// messages are counted.
    func doubt(ofStart start: DatabaseTime?) -> String? {
        guard text(Self.onPast) == DeliveryPlan.PastRule.skip.rawValue, isOver(text(Self.localTime), at: start) else {
            return nil
        }
        return catalogue.text(.localTimeLate, Figures.local(text(Self.localTime), zone), zone)
    }

    /// - Parameter moment: nil for now.
    private func isOver(_ text: String, at begins: DatabaseTime? = nil) -> Bool {
        guard let now, let moment = moments[text] else { return false }
        return switch moment {
        case .once(let moment), .twice(_, let moment): moment <= begins ?? now
        case .skipped: false
        }
    }

    private func text(_ name: String) -> String { values[name] ?? "" }

    private func text(_ row: Int, _ column: Column) -> String { text(Self.field(row, column)) }

    private var rows: Int {
        (0..<Self.maxRows).last { row in Column.allCases.contains { !text(row, $0).isEmpty } }.map { $0 + 1 } ?? 0
    }

    /// Whether a typed value is invalid.
    var isWrong: Bool { !problems.isEmpty }

    /// Whether an experiment's rest would get nothing: the winner is decided after the local time is over everywhere.
    var skipsRest: Bool {
        hasRest && !text(Self.localTime).isEmpty && text(Self.onPast) == DeliveryPlan.PastRule.skip.rawValue
    }

    /// What is wrong, by field.
    var problems: [String: String] { read().problems }

    /// The plan; it says nothing of what is invalid.
    var plan: DeliveryPlan { read().plan }

    private func read() -> (plan: DeliveryPlan, problems: [String: String]) {
        var plan = DeliveryPlan()
        var problems: [String: String] = [:]
        if !text(Self.localTime).isEmpty {
            if DeliveryPlan.isLocalTime(text(Self.localTime)) {
                plan.localTime = text(Self.localTime)
            } else {
                problems[Self.localTime] = catalogue[.localTimeWrong]
            }
            plan.onPast = DeliveryPlan.PastRule(rawValue: text(Self.onPast))
            if plan.onPast == nil { problems[Self.onPast] = catalogue[.pastMissing] }
            if skipsRest { problems[Self.onPast] = catalogue[.pastSkipsRest] }
        }
        if !text(Self.hours).isEmpty {
            plan.hours = DeliveryPlan.HoursRule(rawValue: text(Self.hours))
            if plan.hours == nil { problems[Self.hours] = catalogue.text(.settingUnknown, text(Self.hours)) }
        }
        let rows = self.rows
        guard rows > 0 else { return (plan, problems) }
        for row in 0..<rows { plan.waves.append(wave(row, &problems)) }
        let percents = plan.waves.map { wave -> Double in
            if case .percent(let percent) = wave.size { percent } else { 0 }
        }
        // Sums of fractions are not exact.
        if percents.reduce(0, +) > 100 + 1e-9, let last = percents.lastIndex(where: { $0 > 0 }) {
            problems[Self.field(last, .size)] = catalogue[.waveSumWrong]
        }
        var rest = DeliveryPlan.Wave()
        begin(&rest, Self.restBegins, &problems)
        plan.waves.append(rest)
        return (plan, problems)
    }

    private func wave(_ row: Int, _ problems: inout [String: String]) -> DeliveryPlan.Wave {
        var wave = DeliveryPlan.Wave()
        if let size = Self.size(text(row, .size)) {
            wave.size = size
        } else {
            problems[Self.field(row, .size)] = catalogue[.waveSizeWrong]
        }
        begin(&wave, Self.field(row, .begins), &problems)
        if row == 0, wave.afterSeconds != nil { problems[Self.field(row, .begins)] = catalogue[.waveFirst] }
        wave.maxFailed = share(row, .failed, &problems)
        wave.maxTokenErrors = share(row, .tokens, &problems)
        wave.maxOptOuts = share(row, .optOuts, &problems)
        return wave
    }

    private func begin(_ wave: inout DeliveryPlan.Wave, _ name: String, _ problems: inout [String: String]) {
        let text = text(name)
        guard !text.isEmpty else { return }
        if DeliveryPlan.isLocalTime(text), zone == ZoneMenu.utc {
            wave.startsAt = text.replacing(" ", with: "T") + "Z"
        } else if DeliveryPlan.isLocalTime(text) {
            if case .once(let moment)? = moments[text] { wave.startsAt = moment.internetText }
            problems[name] = ZoneMenu.problem(moments[text], text, zone, catalogue)
        } else if let seconds = Self.seconds(text) {
            wave.afterSeconds = seconds
        } else {
            problems[name] = catalogue[.waveBeginsWrong]
        }
    }

    private func share(_ row: Int, _ column: Column, _ problems: inout [String: String]) -> Double? {
        let text = text(row, column)
        guard !text.isEmpty else { return nil }
        guard let percent = Self.number(text.replacing("%", with: "")), (0...100).contains(percent) else {
            problems[Self.field(row, column)] = catalogue[.waveShareWrong]
            return nil
        }
        return percent / 100
    }

    /// `5 %` or `1000`.
    private static func size(_ text: String) -> DeliveryPlan.Wave.Size? {
        if text.hasSuffix("%") {
            return number(String(text.dropLast())).flatMap { DeliveryPlan.percents.contains($0) ? .percent($0) : nil }
        }
        return Int64(text).flatMap { DeliveryPlan.counts.contains($0) ? .messages($0) : nil }
    }

    private static func number(_ text: String) -> Double? {
        let plain = text.trimmed.replacing(",", with: ".")
        guard !plain.isEmpty, plain.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }) else { return nil }
        return Double(plain)
    }

    /// The units of a pause, the longest first.
    private static let units: [(name: String, seconds: Int64)] = [
        ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1),
    ]

    /// `30min`, `2h` or `1d`.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let name = text.dropFirst(digits.count).trimmed
        guard let number = Int64(digits), number <= DeliveryPlan.pauses.upperBound,
            let unit = units.first(where: { $0.name == name }), DeliveryPlan.pauses.contains(number * unit.seconds)
        else { return nil }
        return number * unit.seconds
    }

    private static func words(seconds: Int64) -> String {
        let unit = units.first { seconds.isMultiple(of: $0.seconds) && seconds > 0 } ?? ("s", 1)
        return "\(seconds / unit.seconds)\(unit.name)"
    }
}

extension PlanForm {
    /// A plan as `pushmta_engine.plan_document` writes it.
    private struct Document: Decodable {
        struct Wave: Decodable {
            var percent: Double?
            var count: Int64?
            var at: String?
            var after: String?
            var maxFailed: Double?
            var maxTokenErrors: Double?
            var maxOptOuts: Double?

            private enum CodingKeys: String, CodingKey {
                case percent, count, at, after
                case maxFailed = "max_failed"
                case maxTokenErrors = "max_token_errors"
                case
                    maxOptOuts = "max_opt_outs"
            }
        }

        struct Plan: Decodable {
            var localTime: String?
            var onPast: String?
            var hours: String?
            var waves: [Wave]?

            private enum CodingKeys: String, CodingKey {
                case localTime = "local_time"
                case onPast = "on_past"
                case hours, waves
            }
        }

        var plan: Plan?
    }

    /// The plan among the settings of an existing delivery as values of a form; a moment that has passed is left out.
    static func values(json: String) -> [String: String] {
        guard let plan = (try? JSONBody.decode(Document.self, from: json.utf8))?.plan else { return [:] }
        var values: [String: String] = [:]
        values[localTime] = plan.localTime.map { String($0.prefix(16)) }
        values[onPast] = plan.onPast
        values[hours] = plan.hours
        let waves = (plan.waves ?? []).prefix(maxRows + 1)
        for (row, wave) in waves.dropLast().enumerated() {
            values[field(row, .size)] = wave.percent.map { "\(plain($0)) %" } ?? wave.count.map { "\($0)" }
            values[field(row, .begins)] = beginning(wave)
            values[field(row, .failed)] = wave.maxFailed.map { plain($0 * 100) }
            values[field(row, .tokens)] = wave.maxTokenErrors.map { plain($0 * 100) }
            values[field(row, .optOuts)] = wave.maxOptOuts.map { plain($0 * 100) }
        }
        values[restBegins] = waves.last.flatMap(beginning)
        if !moments(in: values).isEmpty { values[zone] = ZoneMenu.utc }
        return values
    }

    private static func beginning(_ wave: Document.Wave) -> String? {
        if let at = wave.at { return String(at.prefix(16)) }
        return wave.after.flatMap { Int64($0.prefix { $0.isNumber }) }.map(words)
    }

    /// A number with at most three digits after the point.
    private static func plain(_ value: Double) -> String {
        let text = "\((value * 1_000).rounded() / 1_000)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// What the page of the step shows.
    var page: PageValues {
        let problems = self.problems
        let shown = min(Self.maxRows, max(Self.minRows, rows + 1))
        return [
            "localName": .text(Self.localTime), "localTime": .text(String(text(Self.localTime).prefix(16))),
            "isLocalWrong": .flag(problems[Self.localTime] != nil),
            "localProblem": .text(problems[Self.localTime] ?? ""),
            "pastFields": .list([
                choice(Self.onPast, .localTimePast, [("", Phrase.pastChoose)] + pasts, problems[Self.onPast])
            ]),
            "waves": .list((0..<shown).map { waveRow($0, problems) }),
            "waitsForZones": .flag(waitsForZones),
            "restName": .text(Self.restBegins), "restBegins": .text(text(Self.restBegins)),
            "isRestWrong": .flag(problems[Self.restBegins] != nil),
            "restProblem": .text(problems[Self.restBegins] ?? ""),
            "zoneMenu": ZoneMenu(known: zones, chosen: zone).values(Self.zone),
            "hoursFields": .list([
                choice(Self.hours, .hoursRuleLabel, [("", Phrase.hoursAsService)] + rules, problems[Self.hours])
            ]),
        ]
    }

    /// Whether waves wait until the one before has left in all time zones.
    private var waitsForZones: Bool {
        rows > 0 && (!text(Self.localTime).isEmpty || text(Self.hours) == DeliveryPlan.HoursRule.postpone.rawValue)
    }

    private var pasts: [(String, Phrase)] {
        DeliveryPlan.PastRule.allCases.map { rule in
            switch rule {
            case .now: (rule.rawValue, .pastNow)
            case .nextDay: (rule.rawValue, .pastNextDay)
            case .skip: (rule.rawValue, .pastSkip)
            }
        }
    }

    private var rules: [(String, Phrase)] {
        DeliveryPlan.HoursRule.allCases.map { rule in
            switch rule {
            case .postpone: (rule.rawValue, .hoursPostpone)
            case .drop: (rule.rawValue, .hoursDrop)
            case .ignore: (rule.rawValue, .hoursIgnore)
            }
        }
    }

    /// The values of the template for a field with a choice.
    private func choice(_ name: String, _ label: Phrase, _ options: [(String, Phrase)], _ problem: String?)
        -> PageValues
    {
        let words = options.map { value, phrase -> PageValues in
            ["value": .text(value), "name": .text(catalogue[phrase]), "isChosen": .flag(value == text(name))]
        }
        let told: [PageValues] = problem.map { [["words": .text($0)]] } ?? []
        return [
            "name": .text(name), "label": .text(catalogue[label]), "isLine": .flag(false), "isTall": .flag(false),
            "hasHint": .flag(false), "isWrong": .flag(problem != nil),
            "problems": .list(told), "choice": .group(["words": .list(words)]),
        ]
    }

    private func waveRow(_ row: Int, _ problems: [String: String]) -> PageValues {
        let cells = Column.allCases.map { column -> PageValues in
            let name = Self.field(row, column)
            return [
                "name": .text(name), "value": .text(text(row, column)), "label": .text(catalogue[Self.label(column)]),
                "isWrong": .flag(problems[name] != nil), "problem": .text(problems[name] ?? ""),
            ]
        }
        return ["number": .text("\(row + 1)"), "cells": .list(cells)]
    }

    private static func label(_ column: Column) -> Phrase {
        switch column {
        case .size: .waveSize
        case .begins: .waveBegins
        case .failed: .waveFailed
        case .tokens: .waveTokens
        case .optOuts: .waveOptOuts
        }
    }

    /// What the plan says, for the confirmation of the start; empty if it says nothing.
    var facts: [(name: String, value: String)] {
        var facts: [(name: String, value: String)] = []
        if !text(Self.localTime).isEmpty {
            let past = pasts.first { $0.0 == text(Self.onPast) }.map { catalogue[$0.1] } ?? ""
            let moment = text(Self.localTime).replacing("T", with: " ")
            let clock = catalogue[.localTimeClock]
            facts.append((catalogue[.localTimeTitle], "\(moment) \(clock) · \(catalogue[.localTimePast]): \(past)"))
        }
        if rows > 0 {
            var sizes = (0..<rows).map { sizeWords(text($0, .size)) } + [catalogue[.waveRest]]
            if waitsForZones { sizes.append(catalogue[.waveZonesFirst]) }
            facts.append((catalogue[.wavesTitle], sizes.joined(separator: " · ")))
            facts.append((catalogue[.waveBegins], numbered((0...rows).map(begins))))
            let guards = numbered((0..<rows).map(limits))
            if !guards.isEmpty { facts.append((catalogue[.waveGuards], guards)) }
        }
        if let rule = rules.first(where: { $0.0 == text(Self.hours) }) {
            facts.append((catalogue[.hoursRuleLabel], catalogue[rule.1]))
        }
        return facts
    }

    /// A size with its unit: a forgotten % is seen.
    private func sizeWords(_ text: String) -> String {
        guard case .messages(let count)? = Self.size(text) else { return text }
        return catalogue.text(.waveCount, count: count, Figures.count(count))
    }

    /// Words about each wave, with its number; those without any are left out.
    private func numbered(_ words: [String]) -> String {
        words.enumerated().filter { !$0.element.isEmpty }
            .map { "\(catalogue[.waveNumber]) \($0.offset + 1): \($0.element)" }.joined(separator: " · ")
    }

    /// When a wave begins; empty for a first one that begins at the start. The one after all rows is the rest.
    private func begins(_ row: Int) -> String {
        let text = row < rows ? text(row, .begins) : text(Self.restBegins)
        if DeliveryPlan.isLocalTime(text) { return Figures.local(text, zone) }
        guard row > 0 else { return "" }
        guard let seconds = Self.seconds(text) else { return catalogue.text(.waveBehind, "\(row)") }
        return catalogue.text(.waveAfter, Figures.duration(Double(seconds)), "\(row)")
    }

    /// The limits that a wave has to keep to before the next one begins; empty if it has none.
    private func limits(_ row: Int) -> String {
        let all: [(Phrase, Column)] = [(.guardFailed, .failed), (.guardTokens, .tokens), (.guardOptOuts, .optOuts)]
        let shown = all.compactMap { name, column -> String? in
            let typed = Self.number(text(row, column).replacing("%", with: ""))
            let usual: Double? = row == 0 && column == .tokens ? Self.usualTokenErrors : nil
            guard let percent = typed ?? usual, percent < 100 else { return nil }
            return "\(catalogue[name]) \(catalogue.text(.atMost, "\(RateNumber.shown(percent)) %"))"
        }
        return shown.joined(separator: ", ")
    }
}
