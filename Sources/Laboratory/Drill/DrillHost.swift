import Administration
import Foundation
import ProcessProtocol
import PushCore
import Store

/// A drill's host: a supervisor with its children, its folder and its journals.
struct DrillHost: Sendable {
    /// How long a killed process may take to end.
    private static let endLimit = Duration.seconds(30)
    private static let lookInterval = Duration.milliseconds(10)

    /// The host's name within the site.
    let name: String
    /// The host's folder and supervisor.
    var place: TestHost
    /// The settings that the host was made with.
    let settings: Settings

    var folder: String { place.folder }
    /// The folder of its journals.
    var journalFolder: String { settings.mta.workingPath }
    /// The settings of its processes.
    var settingsFile: String { place.settingsFile }
    /// The log of the supervisor and its children.
    var log: String { place.supervisor.logFile }
    /// The supervisor's process id; `nil` if it does not run.
    var supervisorID: Int32? { place.supervisor.running?.id }

    /// The host's id in the database; `nil` before its first start.
    var hostID: String? {
        let text = try? String(contentsOfFile: journalFolder + "/host-id", encoding: .utf8)
        return text?.split(whereSeparator: \.isNewline).first.map(String.init)
    }

    /// Starts the supervisor.
    ///
    /// - Parameter environment: Variables for the supervisor and its children, in addition to the host's.
    func start(environment: [String: String] = [:]) async throws {
        var place = place
        place.environment.merge(environment) { $1 }
        try await place.start()
    }

    /// Asks the supervisor to end, and waits for it.
    ///
    /// - Returns: How it ended.
    @discardableResult
    func stop() async throws -> ProcessStop {
        try await place.supervisor.stop()
    }

    /// The children that are alive, including those whose supervisor is gone.
    func childIDs() -> [Int32] {
        ProcessRecord.all()
            .filter {
                let words = $0.commandLine
                return words.contains(" \(ChildArguments.command) ") && words.contains(settingsFile)
            }
            .map(\.id).sorted()
    }

    /// Kills only the supervisor.
    func killSupervisor() async throws {
        try await place.supervisor.kill()
    }

    /// Kills supervisor and children at once.
    func killAll() async throws {
        // The supervisor is stopped first, so that it starts no child in between.
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
        throw DrillFailure("children of host \(name) still run \(Self.endLimit) after SIGKILL: \(childIDs())")
    }

    /// Sends a signal to a process.
    func signal(_ process: Int32, _ signal: Int32) {
        kill(process, signal)
    }

    /// The journals in the folder.
    func journals() -> [String] { journalFiles { $0.hasSuffix(".journal") } }

    /// The journals that were put aside because they are damaged or belong to another host.
    func putAside() -> [String] { journalFiles { !$0.hasSuffix(".journal") } }

    /// Deletes the journals, as if the disk were lost.
    ///
    /// - Parameter keepingHostID: Whether the host keeps its id. Otherwise it gets a new one at its next start.
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

extension DrillSite {
    /// How many seconds beyond a lease the rate may take to recover after a process died.
    static let recoveryAllowance = 10

    /// Starts the cluster, the simulator and one host, registers the audience and starts sending.
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

    /// Expects at least one late outcome: one that an owner stored after it had lost the part. Without any, late
    /// answers were discarded, and the messages look right only because they were sent again.
    func expectLateOutcomes() async throws {
        var late: Int64 = 0
        for delivery in deliveries { late += try await progress(delivery).lateOutcomes }
        note("\(late) late outcomes were stored")
        expect(late > 0, "no outcome was stored by an owner that had lost its part")
    }

    /// Measures how long the rate takes to recover after a host's fault. More than the lease plus ten seconds is a
    /// problem.
    func expectRecovery(of host: DrillHost, after fault: DrillFault) async throws {
        let limit = host.settings.mta.lease.durationSec + Self.recoveryAllowance
        do {
            // It waits beyond the limit, so that the result has the actual time.
            let seconds = try await measureRecovery(after: fault, within: .seconds(limit * 3))
            expect(
                seconds <= Double(limit),
                "after \(fault.what) the rate took \(seconds) s to recover; the limit is \(limit) s"
            )
        } catch let failure as DrillFailure {
            problem("\(failure)")
        }
    }
}

extension DrillSite {
    /// How long an ended process may wait for its parent to reap it.
    private static let zombieLimit = Duration.seconds(5)

    /// Expects that every supervisor has reaped its ended children; a zombie is a problem.
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

/// A child as recorded in the database.
struct DrillChild: Sendable, Equatable {
    /// Its row's id.
    let id: Int64
    /// Its process id; 0 before its first heartbeat.
    let pid: Int32
    /// Its host's id.
    let hostID: String
    /// Messages sent.
    let sent: Int64
    /// Requests that were waiting for their answer at its last heartbeat.
    let streams: Int32
}

extension DrillSite {
    /// The children that have not ended according to the database.
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

    /// The process ids of the host's live children that have sent something.
    func busyChildren(of host: DrillHost) async throws -> [Int32] {
        let alive = Set(host.childIDs())
        return try await children().filter { alive.contains($0.pid) && $0.sent > 0 }.map(\.pid).sorted()
    }

    /// Waits until a child of the host has sent something, and returns the id of a random one.
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
