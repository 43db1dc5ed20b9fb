import HTTPTypes
import PushCore
import Store

/// The sending hours of a service, its days off and its time zone.
struct ServiceHoursPage: Sendable {
    let responder: ConsoleResponder

    private static let base = ServiceListPage.path + "/hours"
    /// The names of the fields.
    private enum Name {
        static let service = "service"
        static let day = "day."
        static let daysOff = "days_off"
        static let outside = "outside"
        static let timeZone = "time_zone"
        static let version = "version"
    }

    private static let days: [Phrase] = [.dayOne, .dayTwo, .dayThree, .dayFour, .dayFive, .daySix, .daySeven]
    /// A year of days off.
    private static let maxDaysOffLength = 366 * 12

    private var catalogue: Catalogue { responder.pages.catalogue }

    static func path(_ service: String) -> String { "\(base)?service=\(SignIn.encoded(service))" }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.base, .role(.read)) { call in
                try await call.mayOperate ? form(call).reply() : facts(call)
            },
            ConsoleRoute(.post, Self.base, .role(.operate)) { try await change($0) },
        ]
    }

    /// The hours for those who may not change them.
    private func facts(_ call: ConsoleCall) async throws -> ConsoleReply {
        let name = call.query[Name.service] ?? ""
        let hours = try await responder.database.run { store in
            // Throws if there is no such service.
            _ = try await store.serviceFacts(name)
            return try await store.sendingHours(ofService: name)
        }
        var facts: [(Phrase, String)] = []
        if !hours.hours.isEmpty {
            facts = Self.days.enumerated().map { place, phrase -> (Phrase, String) in
                let text = Self.text(hours, weekday: place + 1)
                return (phrase, text.isEmpty ? catalogue[.hoursNoMessages] : text)
            }
        }
        if !hours.daysOff.isEmpty { facts.append((.daysOffLabel, hours.daysOff.joined(separator: ", "))) }
        let isRestricted = !facts.isEmpty
        if isRestricted {
            facts.append((.hoursRuleLabel, catalogue[hours.outside == .drop ? .hoursDrop : .hoursPostpone]))
        }
        facts.append((.fieldTimeZone, hours.timeZone))
        var values: PageValues = [
            "intro": .text(catalogue[.hoursFormText]), "hasFacts": .flag(true),
            "facts": .list(facts.map { ["name": .text(catalogue[$0.0]), "value": .text($0.1)] }),
        ]
        if !isRestricted { values["sentence"] = .text(catalogue[.hoursNone]) }
        return .page(ConsolePage("service-facts", title: catalogue.text(.hoursFormTitle, name), values))
    }

    private func form(_ call: ConsoleCall) async throws -> FormPage {
        let name = call.query[Name.service] ?? ""
        let (version, hours, zones) = try await responder.database.run { store in
            (
                try await store.serviceFacts(name).version, try await store.sendingHours(ofService: name),
                try await store.timeZones()
            )
        }
        let lines = Self.days.enumerated().map { place, phrase in
            FormField(
                name: "\(Name.day)\(place + 1)",
                label: catalogue[phrase],
                kind: .text,
                hint: place == 0 ? catalogue[.hoursLineHint] : "",
                value: Self.text(hours, weekday: place + 1)
            )
        }
        // A zone that this server no longer knows is still offered.
        let offered = zones.contains(hours.timeZone) ? zones : [hours.timeZone] + zones
        return FormPage(
            title: catalogue.text(.hoursFormTitle, name),
            action: Self.path(name),
            back: (ServiceListPage.path, catalogue[.servicesTitle]),
            intro: catalogue[.hoursFormText],
            fields: lines + [
                FormField(
                    name: Name.daysOff,
                    label: catalogue[.daysOffLabel],
                    kind: .text,
                    hint: catalogue[.daysOffHint],
                    value: hours.daysOff.joined(separator: ", "),
                    maxLength: Self.maxDaysOffLength
                ),
                FormField(
                    name: Name.outside,
                    label: catalogue[.hoursRuleLabel],
                    kind: .choice([
                        FormOption(SendingHours.Policy.postpone.rawValue, catalogue[.hoursPostpone]),
                        FormOption(SendingHours.Policy.drop.rawValue, catalogue[.hoursDrop]),
                    ]),
                    isRequired: true,
                    value: hours.outside.rawValue
                ),
                FormField(
                    name: Name.timeZone,
                    label: catalogue[.fieldTimeZone],
                    kind: .choice(offered.map { FormOption($0, $0) }),
                    hint: catalogue[.timeZoneHint],
                    isRequired: true,
                    value: hours.timeZone
                ),
            ],
            hidden: [Name.version: "\(version)"],
            button: catalogue[.save]
        )
    }

    /// The hours of a weekday as the form shows them.
    private static func text(_ hours: SendingHours, weekday: Int) -> String {
        let lines = hours.hours.filter { $0.weekdays.contains(weekday) }.sorted { $0.opens < $1.opens }
        return lines.map { "\($0.opens)-\($0.closes)" }.joined(separator: ", ")
    }

    /// The hours of a week in a line, as in `Monday – Friday 08:00-20:00`; empty if there are none.
    static func summary(_ hours: SendingHours, _ catalogue: Catalogue) -> String {
        var groups: [(first: Int, last: Int, text: String)] = []
        for day in days.indices {
            let text = Self.text(hours, weekday: day + 1)
            if let last = groups.indices.last, groups[last].text == text {
                groups[last].last = day
            } else {
                groups.append((day, day, text))
            }
        }
        let shown = groups.filter { !$0.text.isEmpty }.map { group -> String in
            let first = catalogue[days[group.first]]
            let span = group.first == group.last ? first : "\(first) – \(catalogue[days[group.last]])"
            return "\(span) \(group.text)"
        }
        return shown.joined(separator: ", ")
    }

    private func change(_ call: ConsoleCall) async throws -> ConsoleReply {
        let name = call.query[Name.service] ?? ""
        return try await form(call).reply(to: call) {
            var hours = SendingHours()
            var problems: [String: String] = [:]
            for weekday in 1...Self.days.count {
                let field = "\(Name.day)\(weekday)"
                for part in call.typed(field).split(separator: ",") {
                    let times = part.split(separator: "-", omittingEmptySubsequences: false).map(\.trimmed)
                    guard times.count == 2, times.allSatisfy({ $0.utf8.count == 5 }) else {
                        problems[field] = catalogue[.hoursLineWrong]
                        continue
                    }
                    hours.hours.append(SendingHours.Line(weekdays: [weekday], opens: times[0], closes: times[1]))
                }
            }
            if !problems.isEmpty { throw FormRefusal(problems) }
            hours.daysOff = call.typed(Name.daysOff).split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
            hours.outside = SendingHours.Policy(rawValue: call.typed(Name.outside)) ?? .postpone
            hours.timeZone = call.typed(Name.timeZone)
            let changed = hours
            try await responder.database.run { store in
                try await store.changeSendingHours(
                    ofService: name,
                    changed,
                    version: Int64(call.typed(Name.version)) ?? 0,
                    by: call.actor
                )
            }
            return .redirect(ServiceListPage.path + "?done=hours")
        }
    }
}
