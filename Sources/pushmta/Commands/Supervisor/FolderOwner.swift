import Foundation
import Supervisor

/// The process of the supervisor that has a folder.
struct FolderOwner: Sendable {
    /// The folder.
    let folder: String
    /// The process.
    let process: ProcessRecord

    /// Finds the supervisor of a folder; `nil` if none runs.
    ///
    /// - Throws: `SupervisorError` if the folder cannot be looked at; `CommandFailure` if the process cannot be seen from here.
    init?(folder: String) throws {
        guard let id = try Supervisor.running(in: folder) else { return nil }
        guard let process = ProcessRecord(id) else {
            throw CommandFailure(
                .unavailable,
                "The folder \(folder) belongs to a supervisor, process \(id), that cannot be seen from here: run the command in "
                    + "the container or on the machine where that one runs, or name its host with --host."
            )
        }
        self.folder = folder
        self.process = process
    }

    /// Whether the supervisor still runs.
    var isRunning: Bool { ProcessRecord(process.id)?.startTicks == process.startTicks }

    /// Asks the supervisor to drain.
    func drain() throws {
        guard isRunning, kill(process.id, SIGTERM) != 0, errno != ESRCH else { return }
        throw CommandFailure(
            .unavailable,
            "The supervisor of \(folder), process \(process.id), cannot be sent a signal: \(String(cString: strerror(errno))). "
                + "Run the command as the user of that process."
        )
    }
}
