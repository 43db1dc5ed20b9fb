import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// The folder of a running host is copied and started elsewhere; then a host's folder is replaced by an old copy.
struct ClonedHostDrill: Drill {
    let name = "cloned-host"
    let summary =
        "the folder of a sending host is copied and a second supervisor started on the copy; later a killed host "
        + "starts on a copy of its folder that is seconds old"
    let promise =
        "the second becomes a new host and reports it, foreign and old journals are put aside; unexplained 0"
    var needs: [DrillNeed] { [.simulator] }
    var minimumFaults: Int { 2 * Self.rounds }

    private static let rounds = 3
    /// The age of the copy that a killed host starts on.
    private static let age = Duration.milliseconds(2_500)

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost()
        for round in 1...Self.rounds {
            try await clone(site, host, round)
            try await setBack(site, host, round)
        }
        try await site.untilOver()
        try removePutAside(host)
    }

    private func removePutAside(_ host: DrillHost) throws {
        for file in host.putAside() { try FileManager.default.removeItem(atPath: host.journalFolder + "/" + file) }
    }

    /// Starts a second supervisor on a copy of the folder, and ends it.
    private func clone(_ site: DrillSite, _ host: DrillHost, _ round: Int) async throws {
        let clone = try site.addHost("clone\(round)", DrillHostSetup())
        try await site.refill()
        _ = try await site.untilBusyChild(of: host)
        _ = try await site.fault("the folder is copied, and a second supervisor started") {
            try copy(host.journalFolder, to: clone.journalFolder)
            try await clone.start()
        }
        try await site.until("a second host", within: DrillSite.timeout) {
            try await site.refill()
            let alive = try await site.store().hosts().filter { $0.health == "alive" }.map(\.report.id)
            return clone.hostID.map { $0 != host.hostID && alive.contains($0) } ?? false
                && alive.contains(host.hostID ?? "")
        }
        let hosts = try await site.store().hosts()
        let alarm = hosts.first { $0.report.id == clone.hostID }?.report.alarm ?? ""
        site.expect(alarm.contains("is a copy of"), "the clone does not report that it is a copy: \(alarm)")
        site.note("the clone is host \(clone.hostID ?? "none") and has put aside \(clone.putAside())")
        try await site.until("the original's journals are put aside", within: DrillSite.timeout) {
            clone.putAside().contains { $0.hasSuffix(".foreign") }
        }
        try await clone.stop()
        // The journals that the clone put aside have been checked; the site must end without them.
        try FileManager.default.removeItem(atPath: clone.journalFolder)
        site.state.withLock { $0.hosts.removeAll { $0.name == clone.name } }
        site.expect(host.supervisorID != nil, "the host that was copied has ended")
    }

    /// Kills the host and replaces its folder with a copy that is some seconds old.
    private func setBack(_ site: DrillSite, _ host: DrillHost, _ round: Int) async throws {
        let old = site.folder + "/old\(round)"
        try await site.refill()
        _ = try await site.untilBusyChild(of: host)
        try copy(host.journalFolder, to: old)
        let had = host.putAside().count
        // This sleep sets the age of the copy; it waits for nothing.
        try await Task.sleep(for: Self.age)
        try await site.refill()
        _ = try await site.untilBusyChild(of: host)
        _ = try await site.fault("the host is killed, and its folder replaced by an old copy") {
            try await host.killAll()
            try copy(old, to: host.journalFolder)
            try await host.start()
        }
        try await site.until("journals that are put aside", within: DrillSite.timeout) { host.putAside().count > had }
        site.note("\(host.putAside().count - had) old journals are put aside")
        try removePutAside(host)
    }

    private func copy(_ folder: String, to place: String) throws {
        let files = FileManager.default
        if files.fileExists(atPath: place) { try files.removeItem(atPath: place) }
        try files.createDirectory(atPath: place, withIntermediateDirectories: true)
        // Sockets and locks belong to the running supervisor. A journal may be removed while it is copied.
        for file in try files.contentsOfDirectory(atPath: folder) where file == "host-id" || file.hasPrefix("child-") {
            try? files.copyItem(atPath: folder + "/" + file, toPath: place + "/" + file)
        }
    }
}
