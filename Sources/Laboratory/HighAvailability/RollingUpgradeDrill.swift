import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// Two hosts get a new version while they send: first their children, then their supervisors, one after another. Then
/// they get the old version again.
struct RollingUpgradeDrill: Drill {
    let name = "rolling-upgrade"
    let summary = "children and supervisors of two hosts replaced one by one by a program in another place, and back"
    let promise =
        "lost 0, ambiguous 0, no part is taken from its owner, no second without progress except at a child's start"
    let needs: [DrillNeed] = [.simulator]
    let messages: Int64 = 200_000

    /// The folders of the two versions within the site's folder.
    private static let versions = ["old", "new"]
    /// How long the replacement of a host's children may take. They are replaced one by one, each when its successor
    /// has started, and each finishes its work.
    private static let replacementLimit = Duration.seconds(120)
    /// The maximum pause during which no host sends. At least one host sends all the time; a debug build starts a child
    /// in a second or two.
    private static let maxPause = Duration.seconds(5)

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
        // A round replaces the children and the supervisor of each host.
        for round in 1...minimumFaults / (2 * hosts.count) {
            let program = Executables(folder: site.folder + "/" + Self.versions[round % 2])
            for place in site.shuffled(Array(hosts.indices)) {
                try await replaceChildren(site, hosts[place], program)
                try await replaceSupervisor(site, &hosts[place], program)
            }
        }
        let pause = site.meter.maxPause(from: start, to: .now)
        site.state.withLock { $0.recoveries.append(pause / .seconds(1)) }
        if site.options.hasTimes {
            site.expect(
                pause <= Self.maxPause,
                "nothing was accepted for \(pause); the maximum is \(Self.maxPause)"
            )
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
