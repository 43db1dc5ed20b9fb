import OperatingSystem
import ProcessEvents
import Store
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Maintains this host's row in `mta_host`.
struct HostReporter: Sendable {
    let store: Store
    let folder: HostFolder
    let settings: SupervisorSettings
    let condition: HostCondition
    let registry: ChildRegistry

    /// Inserts the row, or updates it for a new start.
    func register() async throws {
        try await store.registerHost(makeReport(stopped: false))
    }

    /// Records a heartbeat and returns what operators have requested in the row.
    func heartbeat() async throws -> HostRequests {
        do {
            let requests = try await store.recordHostHeartbeat(makeReport(stopped: false))
            condition.pulse.note(true)
            return requests
        } catch {
            condition.pulse.note(false)
            throw error
        }
    }

    /// Records that the supervisor has ended in order.
    func sayStopped() async throws {
        _ = try await store.recordHostHeartbeat(makeReport(stopped: true))
    }

    private func makeReport(stopped: Bool) -> HostReport {
        let values = condition.current
        let troubles = values.troubles
        var report = HostReport(
            id: folder.hostID,
            name: settings.hostName,
            pid: getpid(),
            version: settings.version,
            schemaVersion: Store.schemaVersion,
            state: stopped ? .stopped : values.state,
            journalFolder: folder.path.string,
            children: Int32(clamping: values.children),
            maxChildren: Int32(clamping: values.maxChildren),
            cores: Int32(clamping: ProcessInfo.processInfo.activeProcessorCount),
            load: Machine.load(),
            residentBytes: Machine.residentBytes() + registry.residentBytes,
            journalFreeBytes: Machine.freeBytes(at: folder.path.string),
            journalReplayed: values.journalReplayed,
            alarm: troubles.map(\.text).joined(separator: " "),
            alarmRemedy: troubles.map(\.remedy).joined(separator: "; "),
            isAsleep: values.isAsleep
        )
        report.startNonce = values.startNonce
        return report
    }
}

/// Checks whether another supervisor is running under the id of this folder. If so, this folder is a copy of that
/// supervisor's folder.
///
/// This supervisor holds the folder's lock, so one that still sends heartbeats under the same id runs on another copy
/// of the folder. A single heartbeat after the first look may have been on its way when its supervisor died; a second
/// one is proof.
struct HostIdentityCheck: Sendable {
    /// How long to watch: three and a half heartbeats.
    var time = Duration.milliseconds(3_500)
    var interval = Duration.milliseconds(250)
    private static let proof = 2

    /// The last heartbeat of the other supervisor; nil if there is none.
    func other(_ store: Store, _ id: String) async throws -> HostSign? {
        guard var last = try await store.hostSign(id), last.isFresh else { return nil }
        let end = ContinuousClock.now + time
        var signs = 0
        while ContinuousClock.now < end {
            try await Task.sleep(for: interval)
            guard let next = try await store.hostSign(id), next.isFresh else { return nil }
            if next.heartbeat != last.heartbeat { signs += 1 }
            last = next
            if signs >= Self.proof { return last }
        }
        return nil
    }
}
