import Foundation

/// The disk of the database is full for a while, again and again.
struct DiskFullDrill: Drill {
    let name = "disk-full"
    let summary = "the disk of PostgreSQL (a small tmpfs) filled up and freed"
    let promise = "lost 0, duplicates 0, and it goes on by itself when PostgreSQL does"
    let needs: [DrillNeed] = [.root, .tool("mount", package: "mount")]

    /// How long the server may take until it wants room.
    private static let patience = Duration.seconds(15)

    /// Room for the cluster, for little WAL and for the outcomes of some deliveries.
    private static let megabytes = 1_500

    func run(_ site: DrillSite) async throws {
        site.configureCluster { $0.extraSettings += "max_wal_size = 128MB\nmin_wal_size = 32MB\n" }
        let disk = SmallDisk(folder: site.cluster.data, megabytes: Self.megabytes, owner: site.cluster.user)
        site.onCleanup { await disk.unmount() }
        site.leaveNote(disk.removalCommand)
        try await site.cluster.makeFolder()
        try await disk.mount()
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: 80))
        try await site.addHost().start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        for number in 1...minimumFaults {
            if number.isMultiple(of: 5) {
                try await site.untilHit {
                    try await site.outage("the database's disk is full", rate: rate) {
                        try await fillAndFree(site, disk)
                    }
                }
            } else {
                _ = try await site.untilHit {
                    try await site.fault("the database's disk is full") { try await fillAndFree(site, disk) }
                }
            }
            try await site.pause(milliseconds: 0...1_500)
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
    }

    private func fillAndFree(_ site: DrillSite, _ disk: SmallDisk) async throws {
        let before = refusals(site)
        do {
            try disk.fill()
            try await site.pause(milliseconds: 500...4_000)
            // Segments of the log are used again, so the server may want no room for a while.
            try? await site.until("PostgreSQL finds no room", within: Self.patience) { refusals(site) > before }
        } catch {
            disk.free()
            throw error
        }
        disk.free()
        try await untilItRuns(site)
        guard refusals(site) > before else { throw FaultMiss("PostgreSQL wanted no room while its disk was full") }
    }

    /// How often the server has found no room, by its own log.
    private func refusals(_ site: DrillSite) -> Int {
        let log = (try? String(contentsOfFile: site.cluster.log, encoding: .utf8)) ?? ""
        return log.split(separator: "\n").count { $0.contains("No space left on device") }
    }

    private func untilItRuns(_ site: DrillSite) async throws {
        // A server that could not write its log has ended itself; then it is started as an administrator would.
        try await site.until("PostgreSQL after its disk was full", within: .seconds(60), every: .milliseconds(200)) {
            if await !site.cluster.isRunning() {
                site.note("PostgreSQL has ended and is started again")
                try? await site.cluster.start()
            }
            return await site.cluster.isRunning()
        }
    }
}
