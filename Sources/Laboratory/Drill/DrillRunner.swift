import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// Runs one drill, from making its site to the result.
struct DrillRunner: Sendable {
    let drill: any Drill
    /// What the caller asked for.
    let options: DrillOptions

    /// Runs the drill. Afterwards everything it started has ended, and its folder is removed unless it is to be kept.
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
            result.reasons = ["the reconciliation failed: \(error)"]
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
                "\(counted.count) faults landed with at least \(DrillFault.minStreams) streams open; the minimum is "
                    + "\(drill.minimumFaults)"
            )
        }
        if site.watcher.snapshots == 0 { reasons.append("no snapshot was checked") }
        result.reasons = reasons + site.watcher.faults + result.reasons
        site.note("\(site.watcher.snapshots) snapshots; \(result.json)")
    }

    /// Writes the reconciliation's messages to `account.txt` in the site's folder.
    private func write(_ account: DrillReconciliation, _ site: DrillSite) {
        let text = account.entries.map { $0.text + "\n" }.joined()
        _ = FileManager.default.createFile(atPath: site.folder + "/account.txt", contents: Data(text.utf8))
    }
}

/// The end of a drill: checks its processes and folders, and removes them.
struct DrillEnd: Sendable {
    /// How long children may take to end after their supervisor is gone.
    private static let orphanLimit = Duration.seconds(60)

    let site: DrillSite

    /// Expects that every supervisor still runs and has left no zombie.
    func checkProcesses() async {
        for host in site.hosts where host.supervisorID == nil {
            site.problem("the supervisor of host \(host.name) has ended: \(host.place.supervisor.stderrTail)")
        }
        await site.expectNoZombies()
    }

    /// Stops every host. Then no child may run and no journal may be left.
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
        site.expect(journals.isEmpty, "host \(host.name) has left journals: \(journals.joined(separator: ", "))")
        let aside = host.putAside()
        site.expect(aside.isEmpty, "host \(host.name) put journals aside: \(aside.joined(separator: ", "))")
    }

    /// Checks a final snapshot of each delivery, when nothing changes any more.
    func lastLook() async {
        guard let store = try? site.store() else { return }
        for delivery in site.deliveries where await site.watcher.look(store, delivery.id) == nil {
            site.problem("delivery \(delivery.id) could not be read at the end")
        }
    }

    /// Ends all remaining processes, and removes the site unless it is to be kept. It runs in a detached task, so that
    /// it also completes when the caller's task is cancelled.
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
                StandardError.write("The folder of \(site.name) is kept in \(site.folder).\n")
            } else {
                DrillFolder.remove(site.folder, site.cluster)
            }
        }.value
    }
}

/// The caller's options for a drill.
struct DrillOptions: Sendable {
    /// The seed for all random choices.
    var seed: UInt64
    /// The number of messages in a delivery; `nil`: the drill's own number.
    var messages: Int64?
    /// Whether to keep the site's folder at the end.
    var keeps = false
    /// The gateway to use instead of the simulator.
    var gateway: ExternalGateway?
    /// The duration of each outage of drill `gateway-outage`, in seconds.
    var outageSeconds = 30
    /// Whether times are measured and checked. In a short run on a machine with other work, times would mean nothing.
    var hasTimes = true
    /// Whether to suppress progress on standard error.
    var isQuiet = false
}
