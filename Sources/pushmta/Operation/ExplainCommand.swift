import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta explain`: each limit of a delivery, an application or a host, and which one binds now.
struct ExplainCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show why a delivery, an application or a host is as fast as it is.",
        discussion: """
            Lists each limit in force: its current value, its maximum, who sets it, why it has this value, and whether \
            it is what keeps messages from leaving faster right now. Limits that children choose themselves \
            (connections, dispatch window) are shown with the reason.
            """
    )

    @OptionGroup var global: GlobalOptions

    /// What a name refers to, if the user says so.
    enum Kind: String, CaseIterable {
        case delivery, app, application, host
    }

    @Argument(
        help: ArgumentHelp(
            "A delivery's id, an application's name, or a host's name or id; may be preceded by delivery, app or host.",
            valueName: "subject"
        )
    )
    var words: [String]

    @Flag(help: "The name is a host's, even if an application has the same name.")
    var host = false

    @Flag(help: "Print JSON.")
    var json = false

    /// What to explain, as typed.
    struct Subject: Hashable {
        /// What the name refers to; nil if it was not given.
        let kind: Kind?
        let name: String
    }

    private var typed: Subject? { Subject(words: words, isHost: host) }

    func validate() throws {
        guard typed == nil else { return }
        throw ValidationError(
            "Name one thing: a delivery's id, an application or a host, as in pushmta explain 100 or pushmta explain host push-1."
        )
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            try await store.limits(of: try await find(typed?.kind, typed?.name ?? "", store))
        }
        guard json else { return StandardOutput.line(Self.text(rows, width: StatusText.width)) }
        var table = Table(["subject", "limit", "now", "most", "set_by", "binds", "why"])
        for row in rows {
            table.add([
                .text(row.subject), .text(row.limit), .text(row.now), .text(row.maximum), .text(row.setBy),
                .flag(row.binds), .text(row.why),
            ])
        }
        table.show(json: true)
    }

    /// The limits for people. What binds is marked in the first column. Who sets it and why stand below the row,
    /// wrapped so that no command is cut.
    static func text(_ rows: [LimitRow], width: Int) -> String {
        var table = FittedTable([
            .text("binds"), .text("subject"), .text("limit"), .text("now"), .text("most"),
        ])
        for row in rows {
            table.add(
                [row.binds ? "now" : "", row.subject, row.limit, row.now, row.maximum],
                notes: [row.setBy.isEmpty ? "" : "Set by: \(row.setBy)", row.why]
            )
        }
        return table.text(width: width)
    }

    private func find(_ kind: Kind?, _ subject: String, _ store: Store) async throws -> ExplainedSubject {
        if kind == nil || kind == .delivery {
            if let id = Int64(subject) { return .delivery(try await store.deliveryProgress(id).id) }
            guard kind == nil else {
                throw CommandFailure(
                    .data,
                    "\"\(subject)\" is not the id of a delivery: pushmta delivery list shows them."
                )
            }
        }
        if kind != .host {
            let applications = try await store.applications()
            if let application = applications.first(where: { $0.name == subject }) {
                return .application(application.id)
            }
            guard kind == nil else {
                let known = applications.map(\.name)
                throw CommandFailure.unknownName("application", subject, among: known, list: "app list")
            }
        }
        // A host restarted with another folder appears twice: take the one with the latest heartbeat.
        let hosts = try await store.hosts().filter { $0.report.name == subject || $0.report.id == subject }
        guard let found = hosts.min(by: { $0.heartbeatAgeSeconds < $1.heartbeatAgeSeconds }) else {
            throw CommandFailure(
                .data,
                kind == .host
                    ? "There is no host \"\(subject)\": pushmta status lists them."
                    : "There is no application or host \"\(subject)\": pushmta status lists both."
            )
        }
        return .host(found.report.id)
    }
}

extension ExplainCommand.Subject {
    /// A name, or a kind and a name; nil for anything else.
    init?(words: [String], isHost: Bool) {
        guard let name = words.last else { return nil }
        let first = words.count == 2 ? ExplainCommand.Kind(rawValue: words[0]) : nil
        guard words.count == 1 || first != nil else { return nil }
        guard !isHost || first == nil || first == .host else { return nil }
        self.init(kind: isHost ? .host : first, name: name)
    }
}
