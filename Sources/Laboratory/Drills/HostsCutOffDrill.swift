import Administration
import PushCore
import Store

/// One of three hosts loses the connection to the database while it still sends, and later regains it.
struct HostsCutOffDrill: Drill {
    /// Whether the host keeps its journal. Otherwise it dies while it is cut off, and its disk is lost.
    let keepsJournal: Bool

    var name: String { keepsJournal ? "hosts-journal-kept" : "hosts-journal-lost" }
    var summary: String {
        "one of three hosts cut off from the database while it sends, "
            + (keepsJournal
                ? "reconnected after its parts were taken over" : "killed and its journal lost, then restarted")
    }
    var promise: String {
        "lost 0, it stops before another host has its parts, resolves nothing late"
            + (keepsJournal ? "" : ", duplicates within the dispatch marks")
    }
    let needs: [DrillNeed] = [.networkNamespaces, .simulator]

    private static let hosts = 3
    /// The lease and its renewal interval, in seconds. They are short because each round lasts for a lease.
    private static let lease = (duration: 6, renewal: 2)
    /// Slow enough that the dispatch window of a child that cannot store outcomes lasts for most of a lease.
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

/// One host of a network is cut off from the database, loses its parts to the others, and is reconnected.
struct CutOffRound {
    /// The maximum number of bytes that a host without messages sends to the gateways within `silence`:
    /// acknowledgements and PINGs.
    private static let minBytes: Int64 = 4_096
    /// How long a host's traffic is measured to determine whether it sends.
    private static let silence = Duration.milliseconds(500)
    /// How long after the cut a host must have sent something; it empties its window within a lease.
    private static let sendingTimeout = Duration.seconds(5)

    let site: DrillSite
    let network: DrillNetwork
    /// The host's index, counted from 0.
    let host: Int
    /// The undisturbed rate of all hosts together.
    let rate: Double

    /// Runs the whole round.
    ///
    /// - Parameter keepsJournal: Whether the host keeps its journal. Otherwise it dies while it is cut off, and loses
    ///   its journals and its id.
    func run(keepsJournal: Bool) async throws {
        let place = site.hosts[host]
        let cut = try await cutWhileItSends(place)
        let lostBefore = try await site.lostClaims()
        // It is read here because the host may get another id below.
        let hostID = place.hostID
        let held = try await leases(ofHost: hostID)
        site.expect(!held.isEmpty, "host \(place.name) held no part when it was cut off")
        if !keepsJournal {
            try await site.pause(milliseconds: 0...3_000)
            try await site.fault("host \(place.name) dies with its journals") {
                try await place.killAll()
                try place.clearJournals(keepingHostID: false)
            }
        }
        try await site.until(
            "parts of host \(place.name) are taken over",
            within: .seconds(60),
            every: .milliseconds(100)
        ) {
            // All of them must be taken over. A part that the host does not know of, as the answer to its claim was
            // lost, may be taken over earlier.
            let left = try await leases(ofHost: hostID)
            return try await site.lostClaims() > lostBefore && held.isDisjoint(with: left)
        }
        if keepsJournal { try await expectSilence(place) }
        let heal = try await site.fault("host \(place.name) can reach the database again") {
            try await network.heal(host)
        }
        if !keepsJournal { try await place.start() }
        try await site.measureRecovery(of: heal.what, to: rate, before: cut.moment, since: heal.moment)
        try await untilItSends("host \(place.name) sends again")
    }

    /// Cuts the host off. It repeats that if the other hosts held all remaining parts, so that this one had nothing to
    /// send.
    private func cutWhileItSends(_ place: DrillHost) async throws -> DrillFault {
        for _ in 0..<10 {
            try await untilItSends("host \(place.name) sends")
            var last: Int64 = 0
            let cut = try await site.fault("host \(place.name) is cut off from the database") {
                try await network.cut(host)
                last = network.bytesToGateways(host)
            }
            let deadline = ContinuousClock.now + Self.sendingTimeout
            while ContinuousClock.now < deadline {
                try await Task.sleep(for: Self.silence)
                let now = network.bytesToGateways(host)
                if now - last > Self.minBytes { return cut }
                last = now
            }
            site.note("host \(place.name) had nothing to send when it was cut off")
            try await network.heal(host)
        }
        throw DrillFailure("host \(place.name) had nothing to send each time it was cut off")
    }

    /// The parts that the host holds according to the database.
    private func leases(ofHost hostID: String?) async throws -> Set<PartToken> {
        Set(
            try await site.store().leases()
                .filter { $0.hostID == hostID }
                .map { PartToken(part: $0.partID, token: $0.token) }
        )
    }

    private func untilItSends(_ what: String) async throws {
        var last = network.bytesToGateways(host)
        try await site.until(what, within: .seconds(90), every: Self.silence) {
            try await site.refill()
            let now = network.bytesToGateways(host)
            defer { last = now }
            return now - last > Self.minBytes
        }
    }

    /// Expects that the host sends nothing, as other hosts have its parts. What it sent before was answered long ago.
    private func expectSilence(_ place: DrillHost) async throws {
        let before = network.bytesToGateways(host)
        try await Task.sleep(for: Self.silence)
        let bytes = network.bytesToGateways(host) - before
        site.expect(
            bytes <= Self.minBytes,
            "host \(place.name) sent \(bytes) bytes in \(Self.silence) after its parts were taken over"
        )
    }
}
