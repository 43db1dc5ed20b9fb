import Administration
import Foundation
import Store
import SystemPackage

/// The journals' disk is full: nothing more is claimed, an alarm says why, and sending resumes when there is space.
///
/// The minimum is only ten faults: each round waits for the alarm, the end of all children and a new start, which takes
/// some seconds.
struct JournalDiskFullDrill: Drill {
    /// Space for the journals of some children and not much more, in MiB.
    private static let diskSize = 24
    private static let rounds = 11

    let name = "journal-disk-full"
    let summary = "the journals' disk (a small tmpfs) filled up and freed"
    let promise = "lost 0; an alarm while the disk is full; sending resumes automatically"
    let needs: [DrillNeed] = [.root, .tool("mount", package: "mount")]
    let minimumFaults = 10
    let messages: Int64 = 100_000

    func run(_ site: DrillSite) async throws {
        let disk = site.folder + "/small-disk"
        try await mount(disk, site)
        try await site.startCluster()
        try await site.startSimulator()
        let host = try site.addHost("host", DrillHostSetup(journalFolder: disk + "/journal"))
        try FileManager.default.createDirectory(atPath: host.journalFolder, withIntermediateDirectories: true)
        try await host.start()
        try await site.keepSending(to: try await site.audience())
        for _ in 1...Self.rounds {
            _ = try await site.untilBusyChild(of: host)
            try await site.pause(milliseconds: 0...500)
            try await site.fault("the journals' disk is full") { try fill(disk) }
            try await expectAlarm(site)
            try FileManager.default.removeItem(atPath: disk + "/filler")
            try await site.until("the alarm is gone", within: .seconds(60)) { try await !isAlarmed(site) }
        }
        try await site.untilOver()
    }

    private func mount(_ disk: String, _ site: DrillSite) async throws {
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let unmount = try Executables.tool("umount", package: "mount")
        site.leaveNote("\(unmount) -l \(disk)")
        site.onCleanup { _ = try? await ToolRun.run(unmount, ["-l", disk]) }
        try await ToolRun.run(
            try Executables.tool("mount", package: "mount"),
            ["-t", "tmpfs", "-o", "size=\(Self.diskSize)m,mode=755", "pushmta-drill", disk]
        )
    }

    /// Writes until the disk is full.
    private func fill(_ disk: String) throws {
        _ = FileManager.default.createFile(atPath: disk + "/filler", contents: nil)
        guard let handle = FileHandle(forWritingAtPath: disk + "/filler") else {
            throw DrillFailure("cannot write \(disk)/filler")
        }
        defer { try? handle.close() }
        for size in [1 << 20, 4_096, 1] {
            let block = Data(repeating: 0, count: size)
            while (try? handle.write(contentsOf: block)) != nil {}
        }
    }

    /// Whether a host has the alarm that its journals cannot be written. The alarm about little free space is always
    /// active here.
    private func isAlarmed(_ site: DrillSite) async throws -> Bool {
        try await site.store().hosts().contains { $0.report.alarm.contains("cannot be written") }
    }

    private func expectAlarm(_ site: DrillSite) async throws {
        do {
            try await site.until("an alarm about the full disk", within: .seconds(60)) {
                // An existing journal has space for thousands of messages: a delivery may end before it needs more.
                try await site.refill()
                return try await isAlarmed(site)
            }
            try await site.until("nothing more is sent", within: .seconds(60)) { try await site.streams() == 0 }
        } catch let failure as DrillFailure {
            site.problem("\(failure)")
        }
    }
}
