import Administration
import Foundation
import ProcessProtocol
import PushCore
import Store

/// A host of a drill: a supervisor with its children, its folder and its journals.
struct DrillHost: Sendable {
    /// How long a process may take to end once it was killed.
    private static let endLimit = Duration.seconds(30)
    private static let lookInterval = Duration.milliseconds(10)

    /// Its name within the site.
    let name: String
    /// Its folder and supervisor.
    var place: TestHost
    /// The settings that it was made with.
    let settings: Settings

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
        throw DrillFailure("children of host \(name) are alive \(Self.endLimit) after SIGKILL: \(childIDs())")
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

/// How a host of a drill differs from the usual one.
struct DrillHostSetup: Sendable {
    /// The most children.
    var children = 2
    /// The database's connection string; `nil`: the site's cluster over its socket.
    var database: String?
    /// A command that becomes the supervisor, such as `ip netns exec NAME`.
    var wrapper: [String] = []
    /// Variables that supervisor and children get.
    var environment: [String: String] = [:]
    /// The folder of the journals; `nil`: in the host's own folder.
    var journalFolder: String?
    /// Changes the settings before they are written.
    var adjust: @Sendable (inout Settings) -> Void = { _ in }
}

extension DrillHostSetup {
    /// A host with the children that the default settings allow and keep.
    static var usualChildren: DrillHostSetup {
        let defaults = MasterSettings()
        return DrillHostSetup(children: defaults.maxSpareServers) {
            $0.mta.master.minSpareServers = defaults.minSpareServers
            $0.mta.master.startSpareServers = defaults.startSpareServers
        }
    }
}

extension DrillSite {
    /// How much longer than a lease the old rate may take to come back after a process died.
    static let recoveryAllowance = 10

    /// Starts cluster, simulator and one host, registers the audience and starts to send.
    func openHost(
        policy: AmbiguityPolicy = .resend,
        _ adjust: @escaping @Sendable (inout Settings) -> Void = { _ in }
    ) async throws -> DrillHost {
        try await startCluster()
        try await startSimulator()
        let host = try addHost("host", DrillHostSetup(adjust: adjust))
        try await host.start()
        try await keepSending(to: try await audience(), policy: policy) { $0.keepTrying() }
        return host
    }

    /// Expects that some owner has stored outcomes of parts that were not its own any more. Without any, late answers were
    /// thrown away, and the messages' ends would only look right because they were sent again.
    func expectLateOutcomes() async throws {
        var late: Int64 = 0
        for delivery in deliveries { late += try await progress(delivery).lateOutcomes }
        note("\(late) outcomes came late")
        expect(late > 0, "no outcome came from an owner that had lost its part")
    }

    /// Measures how long the rate takes to come back after a fault of a host; more than its lease and ten seconds is a problem.
    func expectRecovery(of host: DrillHost, after fault: DrillFault) async throws {
        let limit = host.settings.mta.lease.durationSec + Self.recoveryAllowance
        do {
            // Longer than the limit, so that the result says how long it took.
            let seconds = try await measureRecovery(after: fault, within: .seconds(limit * 3))
            expect(
                seconds <= Double(limit),
                "after \(fault.what) the rate was back after \(seconds) s, not within \(limit) s"
            )
        } catch let failure as DrillFailure {
            problem("\(failure)")
        }
    }
}

extension DrillSite {
    /// How long a process that has ended may wait for its parent to take note of it.
    private static let zombieLimit = Duration.seconds(5)

    /// No supervisor may leave a child that has ended without taking note of it: a problem if one does.
    func expectNoZombies() async {
        for host in hosts {
            guard let supervisor = host.supervisorID else { continue }
            do {
                try await until("the supervisor of host \(host.name) leaves no zombie", within: Self.zombieLimit) {
                    ProcessRecord.zombies(of: supervisor).isEmpty
                }
            } catch {
                problem("\(error): \(ProcessRecord.zombies(of: supervisor))")
            }
        }
    }
}

/// A child as the database knows it.
struct DrillChild: Sendable, Equatable {
    /// The id of its row.
    let id: Int64
    /// Its process, 0 before its first heartbeat.
    let pid: Int32
    /// The id of its host.
    let hostID: String
    /// Messages that it has sent.
    let sent: Int64
    /// Requests that waited for their answer at its last heartbeat.
    let streams: Int32
}

extension DrillSite {
    /// The children that have not ended, as far as the database knows.
    func children() async throws -> [DrillChild] {
        try await store().children().map {
            DrillChild(
                id: $0.id,
                pid: $0.report.pid,
                hostID: $0.row.hostID,
                sent: $0.report.counts.sent,
                streams: $0.report.connections.streamsInFlight
            )
        }
    }

    /// The children of a host that have sent something and live.
    func busyChildren(of host: DrillHost) async throws -> [Int32] {
        let alive = Set(host.childIDs())
        return try await children().filter { alive.contains($0.pid) && $0.sent > 0 }.map(\.pid).sorted()
    }

    /// Waits for a child of the host that has sent something, and chooses one at random.
    func untilBusyChild(of host: DrillHost) async throws -> Int32 {
        var found: [Int32] = []
        try await until("a child of host \(host.name) that sends", within: .seconds(120)) {
            try await refill()
            found = try await busyChildren(of: host)
            return !found.isEmpty
        }
        return randomElement(of: found) ?? 0
    }
}

enum DrillSignal {
    /// Ends a process that cannot do anything about it.
    static let kill = SIGKILL
    /// Stops a process where it stands.
    static let stop = SIGSTOP
    /// Lets a stopped process go on.
    static let resume = SIGCONT
}
