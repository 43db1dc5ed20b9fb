import OperatingSystem
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SupervisorLoop {
    /// Watches the disk of the journals with each heartbeat, whether or not the database is there to be told.
    func watchJournalDisk() async {
        let disk = JournalDisk(folder: folder.path)
        var known: String?
        while !Task.isCancelled {
            let trouble = disk.probe()
            condition.update { condition in
                condition.journalTrouble = trouble
                condition.lowJournalSpace = disk.lowSpace()
                // A folder that cannot be listed is the trouble already.
                condition.journalsPutAside = (try? folder.journalsPutAside()) ?? condition.journalsPutAside
            }
            if (trouble == nil) != (known == nil) { tell(.journalDisk(trouble: trouble)) }
            known = trouble
            try? await Task.sleep(for: Self.heartbeatInterval)
        }
    }
}

/// Whether the disk of the journals takes what is written to it.
struct JournalDisk: Sendable {
    /// Written as a probe: more than a child writes at once, and little enough for every second.
    static let probeSize = 65_536
    /// Less free space than this is worth an alarm: some ten seconds of journals of all children at full rate.
    static let lowSpaceBytes: Int64 = 64 * 1_024 * 1_024
    static let probeFile = "probe"

    let folder: FilePath

    /// Writes the probe and removes it again; returns why that failed, nil if it did not.
    func probe() -> String? {
        let file = folder.appending(Self.probeFile)
        do {
            let descriptor = try FileDescriptor.open(
                file,
                .writeOnly,
                options: [.create, .truncate, .closeOnExec],
                permissions: [.ownerReadWrite],
                retryOnInterrupt: true
            )
            defer { remove(file) }
            try descriptor.closeAfter { _ = try descriptor.writeAll([UInt8](repeating: 0, count: Self.probeSize)) }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Bytes left, if that is too little; nil if there is enough.
    func lowSpace() -> Int64? {
        let free = Machine.freeBytes(at: folder.string)
        return free < Self.lowSpaceBytes ? free : nil
    }

    private func remove(_ file: FilePath) {
        // One that stays is written over by the next probe.
        try? FileManager.default.removeItem(atPath: file.string)
    }
}
