import Administration
import ArgumentParser
import MetricsEndpoint

struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Show the metrics, what they mean, and what to do about them.",
        discussion: """
            Supervisor, feedback worker, web process and console serve them at /metrics, on metrics.address and their \
            own ports (metrics.supervisorPort, metrics.feedbackPort, metrics.webPort, metrics.consolePort).
            """
    )

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Print the document Deploy/guide/metrics.md.")
    var markdown = false

    func validate() throws {
        if markdown, json { throw ValidationError("--markdown cannot be combined with other options.") }
    }

    func run() async throws {
        if markdown { return StandardOutput.line(MetricsDocument.text.dropLast().description) }
        var table = Table(["name", "type", "labels", "process", "meaning", "action"])
        for row in MetricDefinition.all {
            table.add([
                .text(row.name), .text(row.kind.rawValue), .text(row.labels.joined(separator: ",")),
                .text(row.source.rawValue), .text(row.help), .text(row.action),
            ])
        }
        table.show(json: json)
    }
}
