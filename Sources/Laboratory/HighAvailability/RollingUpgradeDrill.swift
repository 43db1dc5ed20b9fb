import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// A new version comes to two hosts while they send: first their children, then their supervisors, one after the other; and back again.
struct RollingUpgradeDrill: Drill {
    let name = "rolling-upgrade"
    let summary = "children and supervisors of two hosts replaced one by one by a program in another place, and back"
    let promise =
        "lost 0, ambiguous 0, no part is taken from its owner, no second without progress but for a child's start"
    let needs: [DrillNeed] = [.simulator]
    let messages: Int64 = 200_000

    /// The folders of the two programs within the site's.
    private static let versions = ["old", "new"]
    /// How long the children of a host may take until the last one is replaced: they are replaced one by one, each when the one after it
    /// is there, and each finishes what it has.
    private static let replacementLimit = Duration.seconds(120)
    /// The longest pause of all hosts together. One host at least sends all the time; a debug build starts a child in a second or two.
    private static let longestPause = Duration.seconds(5)

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator()
        for version in Self.versions {
            let folder = site.folder + "/" + version
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: site.programs.pushmta, toPath: folder + "/pushmta")
        }
        var hosts: [DrillHost] = []
        for name in ["host1", "host2"] {
            var host = try site.addHost(name)
            host.place.programs = Executables(folder: site.folder + "/" + Self.versions[0])
            try await host.start()
            hosts.append(host)
        }
        try await site.keepSending(to: try await site.audience())
        let start = ContinuousClock.now
        // Children and supervisor of each host.
        for round in 1...minimumFaults / (2 * hosts.count) {
            let program = Executables(folder: site.folder + "/" + Self.versions[round % 2])
            for place in site.shuffled(Array(hosts.indices)) {
                try await replaceChildren(site, hosts[place], program)
                try await replaceSupervisor(site, &hosts[place], program)
            }
        }
        let pause = site.meter.longestPause(from: start, to: .now)
        site.state.withLock { $0.recoveries.append(pause / .seconds(1)) }
        if site.options.hasTimes {
            site.expect(pause <= Self.longestPause, "nothing was accepted for \(pause)")
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
        try await site.expectAmbiguous(atMost: 0)
    }

    private func replaceChildren(_ site: DrillSite, _ host: DrillHost, _ program: Executables) async throws {
        var settings = host.settings
        settings.mta.master.executablePath = program.pushmta
        try host.place.write(settings)
        guard let supervisor = host.supervisorID else { throw DrillFailure("\(host.name) has no supervisor") }
        _ = try await site.untilBusyChild(of: host)
        try await site.fault("the children of \(host.name) are replaced by \(program.pushmta)") {
            host.signal(supervisor, SIGHUP)
        }
        try await site.until("all children of \(host.name) run \(program.pushmta)", within: Self.replacementLimit) {
            try await site.refill()
            let children = host.childIDs().compactMap { ProcessRecord($0)?.commandLine }
            return !children.isEmpty && children.allSatisfy { $0.hasPrefix(program.pushmta + " ") }
        }
    }

    private func replaceSupervisor(_ site: DrillSite, _ host: inout DrillHost, _ program: Executables) async throws {
        _ = try await site.untilBusyChild(of: host)
        var place = host
        place.place.programs = program
        try await site.fault("the supervisor of \(host.name) drains and is replaced by \(program.pushmta)") {
            let stop = try await place.stop()
            site.expect(stop == .orderly, "the supervisor of \(place.name) ended with \(stop)")
            try await place.start()
        }
        host = place
    }
}
