import HTTPTypes
import Store

/// *Alarms*: what somebody should look at, with what to do.
struct AlarmsPage: Sendable {
    let responder: ConsoleResponder

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/alarms", .role(.read)) { _ in
                let alarms = try await responder.database.run { try await $0.alarms() }
                let catalogue = responder.pages.catalogue
                return .page(
                    ConsolePage(
                        "alarms",
                        title: catalogue[.alarmsTitle],
                        ["alarms": .list(Self.rows(alarms, catalogue)), "hasAlarms": .flag(!alarms.isEmpty)]
                    )
                )
            }
        ]
    }

    /// The values of alarms.
    static func rows(_ alarms: [AlarmRow], _ catalogue: Catalogue) -> [PageValues] {
        alarms.map { alarm in
            let path = path(alarm)
            return [
                "subjectPath": .text(path ?? ""), "hasPath": .flag(path != nil),
                "severity": .text(catalogue[alarm.severity == .critical ? .severityCritical : .severityWarning]),
                "isCritical": .flag(alarm.severity == .critical), "subject": .text(alarm.fullSubject),
                "text": .text(alarm.text),
                "remedy": .text(alarm.remedy), "hasRemedy": .flag(!alarm.remedy.isEmpty),
                "since": .text(alarm.since.map { Figures.time($0) } ?? ""), "hasSince": .flag(alarm.since != nil),
            ]
        }
    }

    /// The page that shows what an alarm is about; nil if there is none.
    private static func path(_ alarm: AlarmRow) -> String? {
        switch alarm.subjectKind {
        case "application", "credential": "/services"
        case "delivery": Int64(alarm.subject).map { "/deliveries/\($0)" }
        case "host", "child": "/hosts"
        default: nil
        }
    }
}
