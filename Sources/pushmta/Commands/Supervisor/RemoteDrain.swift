import PushCore
import Store

/// Lets the supervisor of another host end, through the database.
struct RemoteDrain: Sendable {
    /// The time between two looks whether it has.
    private static let interval = Duration.milliseconds(500)

    /// The host's name or id.
    let host: String
    /// The settings that name the database.
    let settings: Settings

    /// Asks for it and returns when the supervisor has said that it has ended.
    func run() async throws {
        try await StoreSession.run(settings) { store in
            let row = try await running(store)
            try await store.requestDrain(host: row.report.id)
            try await wait(for: row, store)
        }
    }

    /// The host that is meant, whose supervisor has to run.
    private func running(_ store: Store) async throws -> HostRow {
        let hosts = try await store.hosts()
        let wanted = host.lowercased()
        let found = hosts.filter { $0.report.id == wanted || $0.report.name.lowercased() == wanted }
        let running = found.filter { $0.liveness == .alive || $0.liveness == .late }
        guard let first = found.first else {
            throw CommandFailure.unknownName("host", host, among: hosts.map(\.report.name), list: "status")
        }
        guard let only = running.first else {
            throw CommandFailure(
                .data,
                "The supervisor of \(first.report.name) does not run (it is \(first.health)): there is nothing to drain; "
                    + "the other hosts take over what it held."
            )
        }
        guard running.count == 1 else {
            throw CommandFailure(
                .data,
                "\(running.count) supervisors run on hosts of the name \(host): give the id of one, "
                    + running.map(\.report.id).joined(separator: " or ")
            )
        }
        return only
    }

    private func wait(for asked: HostRow, _ store: Store) async throws {
        let id = asked.report.id
        let name = "The supervisor of \(asked.report.name), process \(asked.report.pid),"
        var display = WaitDisplay()
        defer { display.finish() }
        // A host that was removed, or whose supervisor was started again, has ended, too.
        while let row = try await store.hosts().first(where: { $0.report.id == id }), row.report.state != .stopped,
            row.startedAt == asked.startedAt
        {
            guard row.liveness != .gone else {
                throw CommandFailure(
                    .negative,
                    "\(name) has said nothing for \(Int(row.beatAgeSeconds)) s and did not say that it ended: look at that "
                        + "host. The other hosts take over what it held."
                )
            }
            let children = try await store.children().filter { $0.row.hostID == id }
            display.show("\(name) is \(row.report.state.rawValue): \(HostRemainder.text(children))")
            try await Task.sleep(for: Self.interval)
        }
        display.finish()
        StandardOutput.line("\(name) has ended.")
    }
}
