import HTTPTypes
import PushCore
import Store

/// *Alarms*: active ones with their remedy and who has acknowledged them, then past ones.
struct AlarmsPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/alarms"

    /// The alarms of a page: the active ones, then those that ended last.
    private static let maxRows = 100

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.read)) { try await list($0) },
            ConsoleRoute(.post, Self.path + "/{id}/acknowledge", .role(.operate)) { call in
                let id = try call.number("id")
                try await responder.database.run { try await $0.acknowledgeAlarm(id, by: call.actor) }
                await responder.badge.forget()
                return .redirect(Self.path + "?done=acknowledge")
            },
        ]
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (alarms, records, clock) = try await responder.database.run { store in
            (
                try await store.alarms(), try await store.alarmHistory(limit: Self.maxRows),
                try await store.commonClock()
            )
        }
        return Figures.$zone.withValue(clock) { page(call, alarms, records) }
    }

    private func page(_ call: ConsoleCall, _ alarms: [AlarmRow], _ records: [AlarmRecord]) -> ConsoleReply {
        let rows = alarms.map { alarm -> PageValues in
            var values = Self.values(alarm, catalogue)
            guard let record = records.first(where: { $0.endedAt == nil && $0.isOf(alarm) }) else { return values }
            if let seen = record.acknowledgement {
                values["seen"] = .group(["words": .text(catalogue.text(.alarmSeen, seen.by, Figures.time(seen.at)))])
            } else if call.mayOperate {
                values["acknowledge"] = .group([
                    "action": .text("\(Self.path)/\(record.id)/acknowledge"),
                    "formToken": .text(call.session?.formToken ?? ""),
                ])
            }
            return values
        }
        let over = records.filter { $0.endedAt != nil }
        return .page(
            ConsolePage(
                "alarms",
                title: catalogue[.alarmsTitle],
                [
                    "alarms": .list(rows), "hasAlarms": .flag(!alarms.isEmpty),
                    "isDone": .flag(call.query["done"] == "acknowledge"),
                    "over": .list(over.map { Self.past($0, catalogue) }), "hasOver": .flag(!over.isEmpty),
                ]
            )
        )
    }

    static func rows(_ alarms: [AlarmRow], _ catalogue: Catalogue) -> [PageValues] {
        alarms.map { values($0, catalogue) }
    }

    private static func values(_ alarm: AlarmRow, _ catalogue: Catalogue) -> PageValues {
        let path = path(alarm)
        let words = AlarmWords(catalogue: catalogue)
        let remedy = words.remedy(alarm)
        return [
            "subjectPath": .text(path ?? ""), "hasPath": .flag(path != nil),
            "severity": .text(catalogue[alarm.severity == .critical ? .severityCritical : .severityWarning]),
            "isCritical": .flag(alarm.severity == .critical), "subject": .text(alarm.fullSubject),
            "text": .text(words.text(alarm)),
            "remedy": .text(remedy?.words ?? ""), "hasRemedy": .flag(remedy != nil),
            "isOwnRemedy": .flag(remedy?.isOwn == true),
            "since": .text(alarm.since.map { Figures.time($0) } ?? ""), "hasSince": .flag(alarm.since != nil),
        ]
    }

    /// The values of an alarm that is over.
    private static func past(_ record: AlarmRecord, _ catalogue: Catalogue) -> PageValues {
        var values = values(record.alarm, catalogue)
        values["began"] = .text(Figures.time(record.beganAt))
        values["ended"] = .text(record.endedAt.map { Figures.time($0) } ?? "")
        values["by"] = .text(record.acknowledgement?.by ?? "")
        return values
    }

    /// The page of the alarm's subject; nil if there is none.
    private static func path(_ alarm: AlarmRow) -> String? {
        switch alarm.subjectKind {
        case "application", "credential": "/services"
        case "account": ServiceListPage.path + "/accounts"
        case "delivery": Int64(alarm.subject).map { "/deliveries/\($0)" }
        case "deliveries": "/deliveries?state=pending"
        case "host", "child": "/hosts"
        case "signal": SignalPages.path
        default: nil
        }
    }
}

extension AlarmRecord {
    /// Whether this is the record of that alarm.
    fileprivate func isOf(_ other: AlarmRow) -> Bool {
        alarm.code == other.code && alarm.subjectKind == other.subjectKind && alarm.subject == other.subject
    }
}
