import PushCore

/// One of three hosts cannot reach the database any more while it still sends; then it can again.
struct HostsCutOffDrill: Drill {
    /// Whether the host keeps its journal; otherwise it dies while it is cut off, and its disk with it.
    let keepsJournal: Bool

    var name: String { keepsJournal ? "hosts-journal-kept" : "hosts-journal-lost" }
    var summary: String {
        "one of three hosts cut off from the database while it sends, "
            + (keepsJournal
                ? "healed after its parts were taken over" : "killed and its journal lost, then started anew")
    }
    var promise: String {
        "lost 0, it stops before another host has its parts, decides nothing late"
            + (keepsJournal ? "" : ", duplicates within the dispatch marks")
    }
    let needs: [DrillNeed] = [.networkNamespaces, .simulator]

    private static let hosts = 3
    /// A lease and the time between its renewals, in seconds: short, as each round lasts for one.
    private static let lease = (duration: 6, renewal: 2)
    /// Slow enough that the dispatch window of a child that can store nothing lasts for most of a lease.
    private static let gateway = (latency: 200, streams: 120)

    func run(_ site: DrillSite) async throws {
        let network = DrillNetwork(folder: site.folder, hostCount: Self.hosts)
        site.onCleanup { await network.remove() }
        site.leaveNote(network.removalCommand)
        try await network.make()
        try await start(site, network)
        let rate = try await site.undisturbedRate()
        let faultsARound = keepsJournal ? 2 : 3
        for _ in 0..<(minimumFaults + faultsARound - 1) / faultsARound {
            try await CutOffRound(site: site, network: network, host: site.random(in: 0...Self.hosts - 1), rate: rate)
                .run(
                    keepsJournal: keepsJournal
                )
        }
        try await site.untilOver()
        try await site.expect(site.lostClaims() > 0, "no part was ever taken from the host that was cut off")
        if keepsJournal { try await site.expectLateOutcomes() }
    }

    private func start(_ site: DrillSite, _ network: DrillNetwork) async throws {
        site.configureCluster {
            $0.extraSettings += "listen_addresses = '\(network.databaseAddress)'\n"
            $0.extraAccess += "host all all \(network.databaseSubnet) trust\n"
        }
        try await site.startCluster()
        try await site.startSimulator(
            DrillGateway(
                latencyMilliseconds: Self.gateway.latency,
                streams: Self.gateway.streams,
                host: network.gatewayAddress
            )
        )
        for number in 0..<Self.hosts {
            var setup = DrillHostSetup(children: 1, database: site.databaseURL(host: network.databaseAddress))
            setup.wrapper = try network.wrapper(number)
            setup.adjust = {
                $0.mta.lease.durationSec = Self.lease.duration
                $0.mta.lease.renewalSec = Self.lease.renewal
            }
            try await site.addHost("host\(number + 1)", setup).start()
        }
        try await site.keepSending(to: try await site.audience()) { $0.keepTrying() }
    }
}
