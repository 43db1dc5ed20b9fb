import Administration
import Foundation
import PushCore

/// A process dies at each crash point of the protocol, several times.
struct CrashPointsDrill: Drill {
    let name = "crash-points"
    let summary = "a process dies at every step of the protocol on purpose (debug builds)"
    let promise = "lost 0, counts exact, duplicates only among ambiguous messages"
    var needs: [DrillNeed] { [.crashPoints, .simulator] }
    /// Few messages do: there are new deliveries as long as there are points to die at.
    var messages: Int64 { 20_000 }
    var isShort: Bool { CrashPoint.isCompiledIn }

    private static let messagesPerPart = 100
    /// Deaths at each point, at the least.
    private static let times = 3
    /// Rounds over all points at the most, until enough deaths have met full wires.
    private static let rounds = 3
    /// How long a process may take to get there; then the host is started anew, in case that all had been there before they
    /// could die of it.
    private static let limit = Duration.seconds(30)
    /// How often the host is started for one death.
    private static let starts = 4
    /// How long the gateway may take to see that a sender is gone. The next child is not yet at work then.
    private static let breakLimit = Duration.milliseconds(300)
    /// The variable that arms a crash point.
    private static let variable = "PUSHMTA_CRASH_POINT"

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        // Debug builds are slow: with longer answers enough requests are open all the same.
        try await site.startSimulator(DrillGateway(latencyMilliseconds: 150))
        // Small parts: every step of the protocol comes often.
        let setup = DrillHostSetup(children: 2) { $0.mta.preparation.messagesPerPart = Self.messagesPerPart }
        var host = try site.addHost("host", setup)
        let audience = try await site.audience([.ios, .android])
        try await site.keepSending(to: audience, policy: .resend) { $0.keepTrying() }
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
                throw DrillFailure("\(file) cannot be written")
            }
            let streams = try await untilDead(site, host, point, file: file, audience)
            site.noteFaults("death \(number) at visit \(visit) of \(point.rawValue)", number: 1, streams: streams)
        }
        try await host.stop()
    }

    /// At which visits a process may die there: never before its first messages, because a kind of children that dies then is
    /// started again only after a minute, and late enough that the wire is full.
    private static func visits(_ point: CrashPoint) -> ClosedRange<Int> {
        switch point {
        case .afterClaim: 10...20
        case .afterMark: 45...90
        case .beforeCommit, .afterCommit: 6...20
        case .afterIntent, .beforeWrite, .afterAnswer: 20...80
        case .beforePartEnd: 8...20
        case .midChunk: 1...4
        }
    }

    /// Keeps the load up until a process has removed the file, which it does when it dies.
    ///
    /// - Returns: The requests that were open at the gateway when the connections of the process broke. A supervisor has none;
    ///   then those that its children have just after its death.
    private func untilDead(
        _ site: DrillSite,
        _ host: DrillHost,
        _ point: CrashPoint,
        file: String,
        _ audience: [String]
    ) async throws -> Int64 {
        var before = try await site.gatewayCounts()
        for start in 1...Self.starts {
            if host.supervisorID == nil { try await host.start() }
            if try await isDead(site, point, file: file, audience) { break }
            guard start < Self.starts else { throw DrillFailure("nothing died at \(point.rawValue)") }
            try await host.stop()
            before = try await site.gatewayCounts()
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

    /// Waits, as long as a process may take.
    private func isDead(
        _ site: DrillSite,
        _ point: CrashPoint,
        file: String,
        _ audience: [String]
    ) async throws -> Bool {
        var isPreparing = point != .midChunk
        let deadline = ContinuousClock.now.advanced(by: Self.limit)
        while ContinuousClock.now < deadline {
            guard FileManager.default.fileExists(atPath: file) else { return true }
            try await site.refill()
            if !isPreparing, try await site.streams() >= DrillFault.leastStreams {
                // Only a delivery that begins has chunks to prepare.
                _ = try await site.deliver(to: audience) { $0.keepTrying() }
                isPreparing = true
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return !FileManager.default.fileExists(atPath: file)
    }
}
