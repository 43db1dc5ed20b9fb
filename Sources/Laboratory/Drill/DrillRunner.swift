import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// Runs one drill from its site's first folder to its result.
struct DrillRunner: Sendable {
    let drill: any Drill
    /// What the caller asked for.
    let options: DrillOptions

    /// Runs it. Everything that it started has ended afterwards, and its folder is gone unless it is to be kept.
    ///
    /// - Throws: `CancellationError` if the task was cancelled; nothing else.
    func run() async throws -> DrillResult {
        var result = DrillResult(drill: drill.name, seed: options.seed)
        let obstacles = drill.needs.compactMap {
            $0.obstacle(hasSimulator: options.gateway == nil, hasCrashPoints: CrashPoint.isCompiledIn)
        }
        guard obstacles.isEmpty else {
            result.reasons = obstacles.map { "not run: \($0)" }
            return result
        }
        do {
            let site = try DrillSite(
                drill,
                options: options,
                folder: DrillFolder.make(drill.name, keeps: options.keeps)
            )
            let end = DrillEnd(site: site)
            do {
                result = try await run(on: site, end)
                await end.remove()
            } catch {
                await end.remove()
                throw error
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            result.reasons.append("\(error)")
        }
        return result
    }

    private func run(on site: DrillSite, _ end: DrillEnd) async throws -> DrillResult {
        do {
            try await drill.run(site)
        } catch {
            if Task.isCancelled { throw error }
            site.problem("\(error)")
        }
        await end.checkProcesses()
        await end.stopHosts()
        var result = DrillResult(drill: drill.name, seed: options.seed)
        do {
            let account = try await DrillReconciliation.draw(site)
            write(account, site)
            result.ambiguous = account.ambiguous
            result.lost = account.count(.lost)
            result.duplicates = account.count(.duplicate)
            result.unexplained = account.count(.unexplained)
            let wasRestored = site.state.withLock { !$0.exceptions.forgotten.isEmpty }
            result.reasons =
                try await account.reasons + CounterCheck.faults(site.store(), wasRestored: wasRestored)
        } catch {
            if Task.isCancelled { throw error }
            result.reasons = ["the account could not be drawn up: \(error)"]
        }
        await end.lastLook()
        complete(&result, site)
        return result
    }

    private func complete(_ result: inout DrillResult, _ site: DrillSite) {
        let counted = site.faults.filter(\.counts)
        result.faults = counted.count
        result.inFlight = counted.map(\.streams).min() ?? 0
        result.recoverySeconds = site.state.withLock { $0.recoveries.max() }
        var reasons = site.state.withLock { $0.problems }
        if counted.count < drill.minimumFaults {
            reasons.append(
                "\(counted.count) faults landed with at least \(DrillFault.leastStreams) streams open, \(drill.minimumFaults) have to"
            )
        }
        if site.watcher.snapshots == 0 { reasons.append("no snapshot was looked at") }
        result.reasons = reasons + site.watcher.faults + result.reasons
        site.note("\(site.watcher.snapshots) snapshots; \(result.json)")
    }

    /// All messages of the account, for those who keep the folder.
    private func write(_ account: DrillReconciliation, _ site: DrillSite) {
        let text = account.entries.map { $0.text + "\n" }.joined()
        _ = FileManager.default.createFile(atPath: site.folder + "/account.txt", contents: Data(text.utf8))
    }
}

/// The end of a drill: what processes and folders have to look like, and their removal.
struct DrillEnd: Sendable {
    /// How long children whose supervisor is gone may take to end by themselves.
    private static let orphanLimit = Duration.seconds(60)

    let site: DrillSite

    /// Every supervisor lives until it is asked to end, and has left no zombie.
    func checkProcesses() async {
        for host in site.hosts where host.supervisorID == nil {
            site.problem("the supervisor of host \(host.name) is gone: \(host.place.supervisor.stderrTail)")
        }
        await site.expectNoZombies()
    }

    /// Asks every host to end; no child may outlive it and no journal be left over.
    func stopHosts() async {
        await withTaskGroup { group in
            for host in site.hosts { group.addTask { await stop(host) } }
        }
    }

    private func stop(_ host: DrillHost) async {
        do {
            switch try await host.stop() {
            case .killed: site.problem("the supervisor of host \(host.name) did not end and was killed")
            case .failed(let words): site.problem("the supervisor of host \(host.name) ended with \(words)")
            case .orderly, .wasGone: break
            }
            try await site.until(
                "the last child of host \(host.name) ends",
                within: Self.orphanLimit,
                every: .milliseconds(200)
            ) {
                host.childIDs().isEmpty
            }
        } catch {
            site.problem("\(error)")
            try? await host.killAll()
        }
        let journals = host.journals()
        site.expect(journals.isEmpty, "host \(host.name) has left journals behind: \(journals.joined(separator: ", "))")
        let aside = host.putAside()
        site.expect(aside.isEmpty, "host \(host.name) has put journals aside: \(aside.joined(separator: ", "))")
    }

    /// Looks at each delivery once more, now that nothing changes.
    func lastLook() async {
        guard let store = try? site.store() else { return }
        for delivery in site.deliveries where await site.watcher.look(store, delivery.id) == nil {
            site.problem("delivery \(delivery.id) could not be looked at at the end")
        }
    }

    /// Ends everything that is left and removes the site unless it is to be kept; also when the task is cancelled, as the
    /// detached one is not.
    func remove() async {
        let site = site
        await Task.detached {
            for task in site.tasks.withLock({ $0 }) { task.cancel() }
            for host in site.hosts { try? await host.killAll() }
            try? await site.simulator.process.kill()
            for task in site.tasks.withLock({ $0 }) { await task.value }
            await site.state.withLock { $0.store }?.close()
            try? await site.cluster.stop(.immediate)
            for ending in site.state.withLock({ $0.endings }).reversed() { await ending() }
            if site.options.keeps {
                StandardError.write("The folder of \(site.name) is kept: \(site.folder)\n")
            } else {
                DrillFolder.remove(site.folder, site.cluster)
            }
        }.value
    }
}

/// What the caller of a drill asked for.
struct DrillOptions: Sendable {
    /// The seed of everything that is random.
    var seed: UInt64
    /// The messages of a delivery; `nil`: what the drill is made for.
    var messages: Int64?
    /// Whether the site's folder stays at the end.
    var keeps = false
    /// Another gateway than the simulator.
    var gateway: ExternalGateway?
    /// How long the outages of drill `gateway-outage` last, in seconds.
    var outageSeconds = 30
    /// Whether times are measured and judged. In a short run on a machine that has other work, too, they would say nothing.
    var hasTimes = true
    /// Whether the run tells on standard error what it does.
    var isQuiet = false
}

/// What a drill ended with: the line that it prints.
struct DrillResult: Sendable, Equatable {
    var drill: String
    /// The seed, with which it can be repeated; at most `Int64.max`, as no larger one is taken from the command line.
    var seed: UInt64
    /// Faults that landed while at least `DrillFault.leastStreams` streams were open.
    var faults = 0
    /// The fewest streams that were open at one of them; 0 without faults.
    var inFlight: Int64 = 0
    /// Messages that the engine holds for ambiguous, or held so once.
    var ambiguous = 0
    /// Messages that are on record as sent but never reached the gateway, or that have no outcome.
    var lost = 0
    /// Messages that the gateway accepted more than once.
    var duplicates = 0
    /// Messages whose record and fate disagree in any other way, duplicates that were not ambiguous among them.
    var unexplained = 0
    /// Seconds from the fault to the old rate, the longest that was measured; `nil` if none was.
    var recoverySeconds: Double?
    /// Everything that was wrong; empty: passed.
    var reasons: [String] = []

    /// Whether everything was as promised.
    var passed: Bool { reasons.isEmpty }

    /// One line for programs: the same ten keys always, and one more for what did not pass.
    var json: String {
        var pairs: [(String, Cell)] = [
            ("drill", .text(drill)), ("seed", .integer(Int64(clamping: seed))), ("faults", Cell(faults)),
            ("inFlight", Cell(inFlight)),
            ("ambiguous", Cell(ambiguous)), ("lost", Cell(lost)), ("duplicates", Cell(duplicates)),
            ("unexplained", Cell(unexplained)), ("recoverySeconds", recoverySeconds.map { .number($0) } ?? .none),
            ("passed", .flag(passed)),
        ]
        if !passed { pairs.append(("reason", .text(reasons.joined(separator: "; ")))) }
        return Cell.object(pairs).json
    }

    /// The columns of the table for people.
    static let columns = [
        "drill", "seed", "faults", "in_flight", "ambiguous", "lost", "duplicates", "unexplained", "recovery_s",
        "passed",
    ]

    /// The row of the table for people.
    var cells: [Cell] {
        [
            .text(drill), .text(String(seed)), Cell(faults), Cell(inFlight), Cell(ambiguous), Cell(lost),
            Cell(duplicates),
            Cell(unexplained), recoverySeconds.map { .number($0) } ?? .none, .flag(passed),
        ]
    }
}
