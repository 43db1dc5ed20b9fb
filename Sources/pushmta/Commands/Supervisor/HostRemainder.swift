import PushCore
import Store
import Synchronization

/// What the children of a host still hold, read again and again beside whoever waits for their end: that may come while the
/// database does not answer.
final class HostRemainder: Sendable {
    /// The time between two looks.
    private static let interval = Duration.milliseconds(500)

    private let words = Mutex("")

    /// What was seen last, in words; empty before the first look.
    var text: String { words.withLock { $0 } }

    /// Looks until the task is cancelled; the host is that of the supervisor with this process id and folder.
    func follow(process: Int32, folder: String, _ settings: Settings) async {
        while !Task.isCancelled {
            do {
                try await StoreSession.run(settings) { store in
                    while !Task.isCancelled {
                        let hosts = try await store.hosts().filter {
                            $0.report.pid == process && $0.report.journalFolder == folder
                        }
                        let children = try await store.children().filter { child in
                            hosts.contains { $0.report.id == child.row.hostID }
                        }
                        say(Self.text(children))
                        try await Task.sleep(for: Self.interval)
                    }
                }
            } catch {
                say("the database does not answer")
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    private func say(_ text: String) {
        words.withLock { $0 = text }
    }

    /// The sum over some children.
    static func text(_ children: [ChildOverview]) -> String {
        guard !children.isEmpty else { return "no child is left" }
        let streams = children.reduce(0) { $0 + Int($1.beat.streamsInFlight) }
        let parts = children.reduce(0) { $0 + Int($1.beat.partsHeld) }
        return "children \(children.count), messages on the wire \(streams), parts held \(parts)"
    }
}
