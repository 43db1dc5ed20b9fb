/// The declarations of metrics as the document `Deploy/guide/metrics.md`.
package enum MetricsDocument {
    /// The whole document, with a final newline.
    package static var text: String {
        let parts = MetricDefinition.sections.map { section in
            let rows = section.rows.map(line).joined(separator: "\n")
            return """
                ## \(section.title)

                | metric | type | process | meaning | what to do |
                |---|---|---|---|---|
                \(rows)
                """
        }
        return ([introduction] + parts).joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # Metrics

        Generated from the declarations in the code by `pushmta metrics --markdown`; `pushmta metrics --json` prints the same for programs.

        Supervisor, feedback worker, web process and console each serve `/metrics` in Prometheus' text format, on `metrics.address` (default
        127.0.0.1) and ports of their own: `metrics.supervisorPort`, `metrics.feedbackPort`, `metrics.webPort`, `metrics.consolePort`. The
        supervisor's page includes the metrics of its children. [Monitoring](monitoring.md#prometheus) explains scraping and alerts,
        [Runbooks](runbooks.md) say what to do about an alert.

        Labels are applications (`app`), connectors (`gateway`: ios-http2, ios-binary, android-v1, android-v2), hosts and fixed words;
        never deliveries, tokens or users. So the number of series grows only with applications and hosts.
        """

    private static func line(_ row: MetricDefinition) -> String {
        let labels = row.labels.isEmpty ? "" : "{\(row.labels.joined(separator: ","))}"
        let cells = ["`\(row.name)\(labels)`", row.kind.rawValue, row.source.rawValue, row.help, row.action]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
