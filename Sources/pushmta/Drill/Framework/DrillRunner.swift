import Foundation
import PushCore
import Synchronization

/// Runs one drill from its site's first folder to its result.
struct DrillRunner: Sendable {
    /// The drill.
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
            site.finding("\(error)")
        }
        await end.checkProcesses()
        await end.stopHosts()
        var result = DrillResult(drill: drill.name, seed: options.seed)
        do {
            let account = try await DrillAccount.draw(site)
            write(account, site)
            result.ambiguous = account.ambiguous
            result.lost = account.count(.lost)
            result.duplicates = account.count(.duplicate)
            result.unexplained = account.count(.unexplained)
            result.reasons = try await account.reasons + CounterCheck.faults(site.store())
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
        var reasons = site.state.withLock { $0.findings }
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
    private func write(_ account: DrillAccount, _ site: DrillSite) {
        let text = account.entries.map { $0.text + "\n" }.joined()
        _ = FileManager.default.createFile(atPath: site.folder + "/account.txt", contents: Data(text.utf8))
    }
}
