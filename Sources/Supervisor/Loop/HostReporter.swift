import Store
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Keeps this host's row in `mta_host`.
struct HostReporter: Sendable {
    let store: Store
    let folder: HostFolder
    let settings: SupervisorSettings
    let condition: HostCondition
    let registry: ChildRegistry

    /// Makes the row, or makes it that of a new start.
    func register() async throws {
        try await store.registerHost(makeReport(stopped: false))
    }

    /// Keeps it fresh, and returns whether an operator has asked there for an orderly end.
    func beat() async throws -> Bool {
        try await store.beatHost(makeReport(stopped: false))
    }

    /// Says that the supervisor has ended in order.
    func sayStopped() async throws {
        _ = try await store.beatHost(makeReport(stopped: true))
    }

    private func makeReport(stopped: Bool) -> HostReport {
        let values = condition.current
        return HostReport(
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
            alarm: values.alarm,
            isAsleep: values.isAsleep
        )
    }
}
