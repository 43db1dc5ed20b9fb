import Foundation
import MetricsEndpoint
import Testing

/// `Deploy/guide/metrics.md` matches the declarations, and alerts and dashboard use only declared metrics.
@Suite struct MetricsDocumentTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: ProjectFolder.path + "/" + path, encoding: .utf8)
    }

    @Test func theDocumentIsMadeOfTheDeclarations() throws {
        #expect(
            try text("Deploy/guide/metrics.md") == MetricsDocument.text,
            "Deploy/guide/metrics.md is not what the declarations say: pushmta metrics --markdown > Deploy/guide/metrics.md"
        )
    }

    @Test(arguments: ["Deploy/prometheus/pushmta.rules.yml", "Deploy/grafana/pushmta.json"])
    func nothingElseIsAskedFor(_ file: String) throws {
        let declared = Set(MetricDefinition.all.map(\.name))
        // Without names of alerts and jobs.
        let names = try text(file).matches(of: /\b(pushmta|process)_[a-z_]+\b/).map { String($0.output.0) }
        #expect(names.count > 20)
        for name in Set(names) {
            let family = name.replacing(/_(bucket|sum|count)$/, with: "")
            #expect(declared.contains(name) || declared.contains(family), "\(file) asks for \(name)")
        }
    }

    /// Alarms for which another metric raises an alert, and alarms that end without intervention.
    private static let withoutRule: Set<String> = [
        "application_trouble", "child_gone", "child_late", "feedback_missing", "hits_repeated", "host_late",
        "mass_failure", "retention_held", "spools_waiting", "subscriptions_growing", "versions_mixed",
    ]

    /// A rule names each code of the guide, or the code is critical and covered by the alert for all critical alarms.
    @Test func everyAlarmReachesAnAlert() throws {
        let rules = try text("Deploy/prometheus/pushmta.rules.yml")
        let guide = try text("Deploy/guide/monitoring.md")
        let section = try #require(guide.split(separator: "\n## Alarms\n").last?.split(separator: "\n## ").first)
        let codes = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
            line.split(separator: "|").first.map { $0.matches(of: /[a-z_]{5,}/).map { String($0.output) } } ?? []
        }
        #expect(codes.count > 20)
        #expect(rules.contains("severity=\"critical\",code!~"))
        let critical: Set = ["host_alarm", "token_events_waiting"]
        for code in codes where !critical.contains(code) && !Self.withoutRule.contains(code) {
            let isNamed = ["\"\(code)\"", "\"\(code)|", "|\(code)|", "|\(code)\""].contains { rules.contains($0) }
            #expect(isNamed, "\(code)")
        }
    }

    /// The links of the reference to runbooks are valid.
    @Test func runbooksAreThere() throws {
        let runbooks = try text("Deploy/guide/runbooks.md")
        let named = MetricDefinition.all.flatMap { $0.action.matches(of: /Pushmta\w+/).map { String($0.output) } }
        #expect(named.count > 10)
        for name in named { #expect(runbooks.contains("\n## \(name)\n"), "\(name)") }
    }
}
