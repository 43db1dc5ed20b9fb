import OperatingSystem
import Synchronization
import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SupervisorLoop {
    /// Checks the disk of the journals every second, whether or not the database is reachable.
    func watchJournalDisk() async {
        let disk = JournalDisk(folder: folder.path)
        var known: String?
        while !Task.isCancelled {
            let trouble = disk.probe()
            condition.update { condition in
                condition.journalTrouble = trouble
                condition.lowJournalSpace = disk.lowSpace()
                // If the folder cannot be listed, the probe has already reported the failure.
                condition.journalsPutAside = (try? folder.journalsPutAside()) ?? condition.journalsPutAside
            }
            if (trouble == nil) != (known == nil) { tell(.journalDisk(trouble: trouble)) }
            known = trouble
            try? await Task.sleep(for: Self.heartbeatInterval)
        }
    }
}

/// Checks whether the disk of the journals can be written.
struct JournalDisk: Sendable {
    /// The size of the probe in bytes: more than a child writes at once, and small enough for every second.
    static let probeSize = 65_536
    /// Less free space than this raises an alarm: some ten seconds of journals of all children at full rate.
    static let lowSpaceBytes: Int64 = 64 * 1_024 * 1_024
    static let probeFile = "probe"

    let folder: FilePath

    /// Writes the probe and removes it; returns the failure, nil on success.
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

    /// The free bytes, if too few; nil if there are enough.
    func lowSpace() -> Int64? {
        let free = Machine.freeBytes(at: folder.string)
        return free < Self.lowSpaceBytes ? free : nil
    }

    private func remove(_ file: FilePath) {
        // A probe that stays is overwritten by the next one.
        try? FileManager.default.removeItem(atPath: file.string)
    }
}
