import Foundation
import ProcessProtocol
import PushCore

/// A host of a drill: a supervisor with its children, its folder and its journals.
struct DrillHost: Sendable {
    /// How long a process may take to end once it was killed.
    private static let endLimit = Duration.seconds(30)
    private static let lookInterval = Duration.milliseconds(10)

    /// Its name within the site.
    let name: String
    /// Its folder and supervisor.
    var place: TrialHost
    /// The settings that it was made with.
    let settings: Settings

    /// The folder.
    var folder: String { place.folder }
    /// The folder of the journals.
    var journalFolder: String { settings.mta.workingPath }
    /// The settings of its processes.
    var settingsFile: String { place.settingsFile }
    /// The log of supervisor and children.
    var log: String { place.supervisor.logFile }
    /// The supervisor's process; `nil` if it does not run.
    var supervisorID: Int32? { place.supervisor.running?.id }

    /// The id that the host has in the database; `nil` before its first start.
    var hostID: String? {
        let text = try? String(contentsOfFile: journalFolder + "/host-id", encoding: .utf8)
        return text?.split(whereSeparator: \.isNewline).first.map(String.init)
    }

    /// Starts the supervisor.
    ///
    /// - Parameter environment: Variables for supervisor and children, beside those of the host.
    func start(environment: [String: String] = [:]) async throws {
        var place = place
        place.environment.merge(environment) { $1 }
        try await place.start()
    }

    /// Asks the supervisor to end and waits until it has.
    ///
    /// - Returns: How it ended.
    @discardableResult
    func stop() async throws -> ProcessStop {
        try await place.supervisor.stop()
    }

    /// The children that are alive, also those whose supervisor is gone.
    func childIDs() -> [Int32] {
        ProcessRecord.all()
            .filter {
                let words = $0.commandLine
                return words.contains(" \(ChildArguments.command) ") && words.contains(settingsFile)
            }
            .map(\.id).sorted()
    }

    /// Kills the supervisor alone.
    func killSupervisor() async throws {
        try await place.supervisor.kill()
    }

    /// Kills supervisor and children at once.
    func killAll() async throws {
        // Stopped first, so that it starts no child between the two.
        if let supervisorID { kill(supervisorID, SIGSTOP) }
        for child in childIDs() { kill(child, SIGKILL) }
        try await place.supervisor.kill()
        let deadline = ContinuousClock.now.advanced(by: Self.endLimit)
        while ContinuousClock.now < deadline {
            let left = childIDs()
            if left.isEmpty { return }
            for child in left { kill(child, SIGKILL) }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw DrillSetback("children of host \(name) are alive \(Self.endLimit) after SIGKILL: \(childIDs())")
    }

    /// Sends a signal to a process.
    func signal(_ process: Int32, _ signal: Int32) {
        kill(process, signal)
    }

    /// The journals that lie in the folder.
    func journals() -> [String] { journalFiles { $0.hasSuffix(".journal") } }

    /// The journals that were put aside, because they were damaged or of another host.
    func putAside() -> [String] { journalFiles { !$0.hasSuffix(".journal") } }

    /// Loses the journals, as with a disk.
    ///
    /// - Parameter keepingHostID: Whether the host keeps its id; otherwise it comes back as another host.
    func clearJournals(keepingHostID: Bool = true) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: journalFolder)
        where !(keepingHostID && file == "host-id") {
            try FileManager.default.removeItem(atPath: journalFolder + "/" + file)
        }
    }

    private func journalFiles(_ isWanted: (String) -> Bool) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: journalFolder)) ?? []
        return files.filter { $0.hasPrefix("child-") && isWanted($0) }.sorted()
    }
}
