import Foundation
import PushCore

/// A process dies at each crash point of the protocol, several times.
struct CrashPointsDrill: Drill {
    let name = "crash-points"
    let summary = "a process dies at every step of the protocol on purpose (debug builds)"
    let promise = "lost 0, counts exact, duplicates only among ambiguous messages"
    var needs: [DrillNeed] { [.crashPoints, .simulator] }

    /// Deaths at each point, at the least.
    private static let times = 3
    /// Rounds over all points at the most, until enough deaths have met full wires.
    private static let rounds = 3
    /// How long a process may take to get there. A kind of children whose start failed is held back for a minute.
    private static let limit = Duration.seconds(120)
    /// How long the gateway may take to see that a sender is gone.
    private static let breakLimit = Duration.seconds(3)
    /// The variable that arms a crash point.
    private static let variable = "PUSHMTA_CRASH_POINT"

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        // Debug builds are slow: with longer answers enough requests are open all the same.
        try await site.startSimulator(DrillGateway(latencyMilliseconds: 150))
        var host = try site.addHost("host", DrillHostSetup(children: 2))
        let audience = try await site.audience([.ios, .android])
        try await site.keepSending(to: audience, policy: .resend)
        for round in 1...Self.rounds {
            if round > 1, site.faults.count(where: \.counts) >= minimumFaults { break }
            for point in site.shuffled(CrashPoint.allCases) { try await crash(site, &host, point, audience) }
        }
        host.place.environment[Self.variable] = nil
        try await host.start()
        try await site.untilOver()
    }

    /// Has processes of the host die at one point, several times, and ends the host.
    private func crash(
        _ site: DrillSite,
        _ host: inout DrillHost,
        _ point: CrashPoint,
        _ audience: [String]
    ) async throws {
        let file = site.folder + "/armed-" + point.rawValue
        let visit = site.random(in: Self.visits(point))
        host.place.environment[Self.variable] = "\(point.rawValue):\(visit):\(file)"
        for number in 1...Self.times {
            guard FileManager.default.createFile(atPath: file, contents: nil) else {
                throw DrillSetback("\(file) cannot be written")
            }
            if host.supervisorID == nil { try await host.start() }
            let streams = try await untilDead(site, point, file: file, audience)
            site.noteFaults("death \(number) at visit \(visit) of \(point.rawValue)", number: 1, streams: streams)
        }
        try await host.stop()
    }

    /// At which visits a process may die there: never before its first messages, because a kind of children that dies then is
    /// started again only after a minute, and late enough that the wire is full.
    private static func visits(_ point: CrashPoint) -> ClosedRange<Int> {
        switch point {
        case .afterClaim: 2...4
        case .afterMark: 3...10
        case .beforeCommit, .afterCommit: 4...12
        case .afterIntent, .beforeWrite, .afterAnswer: 20...80
        case .beforePartEnd: 2...5
        case .midChunk: 1...2
        }
    }

    /// Keeps the load up until a process has removed the file, which it does when it dies.
    ///
    /// - Returns: The requests that were open at the gateway when the connections of the process broke. A supervisor has none;
    ///   then those that its children have just after its death.
    private func untilDead(
        _ site: DrillSite,
        _ point: CrashPoint,
        file: String,
        _ audience: [String]
    ) async throws -> Int64 {
        let before = try await site.gatewayCounts()
        var isPreparing = point != .midChunk
        try await site.until("a death at \(point.rawValue)", within: Self.limit) {
            guard FileManager.default.fileExists(atPath: file) else { return true }
            try await site.refill()
            if !isPreparing, try await site.streams() >= DrillFault.leastStreams {
                // Only a delivery that begins has chunks to prepare.
                _ = try await site.deliver(to: audience)
                isPreparing = true
            }
            return false
        }
        guard point != .midChunk else { return try await site.streams() }
        var streams: Int64 = 0
        // A child may die with nothing on the wire; that breaks nothing, and does not count.
        let deadline = ContinuousClock.now.advanced(by: Self.breakLimit)
        while streams == 0, ContinuousClock.now < deadline {
            let counts = try await site.gatewayCounts()
            for (now, then) in zip(counts.byName, before.byName) {
                streams = max(streams, now.counts.breaks.dropFirst(then.counts.breaks.count).max() ?? 0)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return streams
    }
}
