import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta explain`: each limit that holds for a delivery, an application or a host, and which one binds now.
struct ExplainCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show why a delivery, an application or a host is as fast as it is.",
        discussion: """
            Lists each limit in force: what it is now, the most that it may be, who sets it, why it has its value, and whether it is what \
            keeps messages from leaving faster at this moment. What children choose by themselves (connections, dispatch window) is \
            shown with the reason.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "A delivery's id, an application's name, or a host's name or id.")
    var subject: String

    @Flag(help: "The name is a host's, though an application may have the same.")
    var host = false

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            try await store.limits(of: try await find(store))
        }
        var table = Table(["subject", "limit", "now", "most", "set_by", "binds", "why"])
        for row in rows {
            table.add([
                .text(row.subject), .text(row.limit), .text(row.now), .text(row.most), .text(row.setBy),
                .flag(row.binds), .text(row.why),
            ])
        }
        table.show(json: json)
    }

    private func find(_ store: Store) async throws -> ExplainedSubject {
        if !host {
            if let id = Int64(subject) { return .delivery(try await store.deliveryProgress(id).id) }
            if let application = try await store.applications().first(where: { $0.name == subject }) {
                return .application(application.id)
            }
        }
        // A host that came back with another folder has its name twice: the one that was heard of last.
        let hosts = try await store.hosts().filter { $0.report.name == subject || $0.report.id == subject }
        guard let found = hosts.min(by: { $0.heartbeatAgeSeconds < $1.heartbeatAgeSeconds }) else {
            throw CommandFailure(
                .data,
                host
                    ? "There is no host \"\(subject)\": pushmta status lists them."
                    : "There is no application or host \"\(subject)\": pushmta status lists both."
            )
        }
        return .host(found.report.id)
    }
}
