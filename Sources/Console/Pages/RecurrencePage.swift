import HTTPTypes
import PushCore
import Store

/// The form that says when a delivery recurs, and the actions on its recurrence.
struct RecurrencePage: Sendable {
    let responder: ConsoleResponder

    /// Behind the address of a delivery's page.
    static let path = "/recurrence"
    /// The word in the address of a recurring delivery's page after its draft is put into force.
    static let forced = "recurrence-force"
    /// Messages on the delivery's page, by the word in its address.
    static let done: [String: Phrase] = [
        "recurrence": .doneRecurrence, forced: .doneForce,
        word(.start): .doneRecurrenceStart, word(.pause): .doneRecurrencePause,
        word(.run): .doneRecurrenceRun, word(.remove): .doneRecurrenceRemove,
    ]

    private enum Name {
        static let unit = "unit"
        static let every = "every"
        static let times = "times"
        static let timeZone = "time_zone"
        static let monthDays = "month_days"
        static let startsOn = "starts_on"
        static let endsOn = "ends_on"
        static let exceptDates = "except_dates"
        static let missed = "missed"

        static func weekday(_ number: Int) -> String { "weekday\(number)" }
    }

    private static func word(_ action: RecurrenceAction) -> String { "recurrence-\(action.rawValue)" }

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        let form = "/deliveries/{id}" + Self.path
        // The database knows whose delivery it is.
        let actions = RecurrenceAction.allCases.map { action in
            ConsoleRoute(.post, "\(form)/\(action.rawValue)", .role(.marketing)) { call in
                let id = try call.number("id")
                try await responder.database.run { try await $0.control(action, recurrenceOf: id, by: call.actor) }
                return .redirect("/deliveries/\(id)?done=\(Self.word(action))")
            }
        }
        let questions = RecurrenceQuestion.confirmed.map { action in
            ConsoleRoute(.get, "\(form)/\(action.rawValue)", .role(.marketing)) { call in
                try await RecurrenceQuestion(responder: responder).reply(try call.number("id"), action)
            }
        }
        return [
            ConsoleRoute(.get, form, .role(.marketing)) { call in
                let id = try call.number("id")
                let rule = try await responder.database.run { try await $0.recurrence(ofDelivery: id)?.rule }
                return try await page(id, rule).reply()
            },
            ConsoleRoute(.post, form, .role(.marketing)) { try await set($0) },
        ] + questions + actions
    }

    private func set(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        return try await page(id, nil).reply(to: call) {
            let rule = try self.rule(call)
            try await responder.database.run { try await $0.setRecurrence(id, rule, by: call.actor) }
            return .redirect("/deliveries/\(id)?done=recurrence")
        }
    }

    private func page(_ id: Int64, _ rule: RecurrenceRule?) async throws -> FormPage {
        let (usual, known) = try await responder.database.run { store in
            (try await store.zone(ofDelivery: id), try await store.timeZones())
        }
        let zone = rule?.timeZone ?? usual
        // A zone that this server no longer knows is still offered.
        let zones = known.contains(zone) ? known : [zone] + known
        return page(id, rule, zone: zone, zones: zones)
    }

    private func page(_ id: Int64, _ rule: RecurrenceRule?, zone: String, zones: [String]) -> FormPage {
        let units = RecurrenceRule.Unit.allCases.map { FormOption($0.rawValue, RecurrenceView.words($0, catalogue)) }
        let choices = RecurrenceRule.Missed.allCases.map {
            FormOption($0.rawValue, RecurrenceView.words($0, catalogue))
        }
        let weekdays = (1...7).map { number in
            FormField(
                name: Name.weekday(number),
                label: catalogue[RecurrenceView.weekdays[number - 1]],
                kind: .tick,
                value: rule?.weekdays?.contains(Int32(number)) == true ? FormField.yes : ""
            )
        }
        let monthDays = (rule?.monthDays ?? []).map { "\($0)" }.joined(separator: ", ")
        return FormPage(
            title: catalogue[.recurrenceTitle],
            action: "/deliveries/\(id)" + Self.path,
            back: ("/deliveries/\(id)", "\(catalogue[.columnDelivery]) \(id)"),
            intro: catalogue[.recurrenceText],
            fields: [
                line(Name.every, .recurrenceEvery, rule.map { "\($0.every)" } ?? "1", isRequired: true),
                FormField(
                    name: Name.unit,
                    label: catalogue[.recurrenceUnit],
                    kind: .choice(units),
                    isRequired: true,
                    value: (rule?.unit ?? .days).rawValue
                ),
                line(
                    Name.times,
                    .recurrenceTimes,
                    rule?.times?.joined(separator: ", ") ?? "",
                    hint: .recurrenceTimesHint
                ),
                zoneField(zone, zones),
            ] + weekdays + [
                line(Name.monthDays, .recurrenceMonthDays, monthDays, hint: .recurrenceMonthDaysHint),
                line(Name.startsOn, .recurrenceStartsOn, rule?.startsOn ?? "", hint: .recurrenceDateHint),
                line(Name.endsOn, .recurrenceEndsOn, rule?.endsOn ?? "", hint: .recurrenceDateHint),
                line(
                    Name.exceptDates,
                    .recurrenceExcept,
                    rule?.exceptDates.joined(separator: ", ") ?? "",
                    hint: .recurrenceExceptHint
                ),
                FormField(
                    name: Name.missed,
                    label: catalogue[.recurrenceMissed],
                    kind: .choice(choices),
                    isRequired: true,
                    value: (rule?.missed ?? .skip).rawValue
                ),
            ],
            button: catalogue[.recurrenceSave]
        )
    }

    private func zoneField(_ zone: String, _ zones: [String]) -> FormField {
        FormField(
            name: Name.timeZone,
            label: catalogue[.recurrenceZone],
            kind: .choice(zones.map { FormOption($0, $0) }),
            hint: catalogue[.recurrenceZoneHint],
            isRequired: true,
            value: zone
        )
    }

    private func line(
        _ name: String,
        _ label: Phrase,
        _ value: String,
        hint: Phrase? = nil,
        isRequired: Bool = false
    ) -> FormField {
        FormField(
            name: name,
            label: catalogue[label],
            kind: .text,
            hint: hint.map { catalogue[$0] } ?? "",
            isRequired: isRequired,
            value: value,
            maxLength: 3_000
        )
    }

    /// The rule that a form says. Days that the unit does not have are left out.
    private func rule(_ call: ConsoleCall) throws(FormRefusal) -> RecurrenceRule {
        var problems: [String: String] = [:]
        func list(_ name: String, _ wrong: Phrase, _ isRight: (String) -> Bool) -> [String] {
            let elements = call.typed(name).split { ", \t\n".contains($0) }.map(String.init)
            if !elements.allSatisfy(isRight) { problems[name] = catalogue[wrong] }
            return elements
        }
        var rule = RecurrenceRule(
            unit: RecurrenceRule.Unit(rawValue: call.typed(Name.unit)) ?? .days,
            timeZone: call.typed(Name.timeZone)
        )
        if let every = Int32(call.typed(Name.every)), RecurrenceRule.everyRange.contains(every) {
            rule.every = every
        } else {
            problems[Name.every] = catalogue[.recurrenceNumberWrong]
        }
        let times = list(Name.times, .recurrenceTimeWrong, RecurrenceRule.isTime)
        rule.times = times.isEmpty ? nil : times
        if times.isEmpty, rule.unit != .hours { problems[Name.times] = catalogue[.recurrenceTimeWrong] }
        let weekdays = (1...7).filter { call.isTicked(Name.weekday($0)) }.map { Int32($0) }
        if rule.unit == .weeks, !weekdays.isEmpty { rule.weekdays = weekdays }
        if rule.unit == .months {
            let days = list(Name.monthDays, .recurrenceNumberWrong) { Int32($0) != nil }.compactMap { Int32($0) }
            rule.monthDays = days.isEmpty ? nil : days
        }
        rule.startsOn = list(Name.startsOn, .recurrenceDateWrong, RecurrenceRule.isDate).first
        rule.endsOn = list(Name.endsOn, .recurrenceDateWrong, RecurrenceRule.isDate).first
        rule.exceptDates = list(Name.exceptDates, .recurrenceDateWrong, RecurrenceRule.isDate)
        rule.missed = RecurrenceRule.Missed(rawValue: call.typed(Name.missed)) ?? .skip
        if !problems.isEmpty { throw FormRefusal(problems) }
        return rule
    }
}
