import Administration
import Foundation
import PushCore

/// A process dies at each crash point of the protocol, several times.
struct CrashPointsDrill: Drill {
    let name = "crash-points"
    let summary = "a process is made to die at every step of the protocol (debug builds)"
    let promise = "lost 0, counts exact, duplicates only among ambiguous messages"
    var needs: [DrillNeed] { [.crashPoints, .simulator] }
    /// Few messages are enough: new deliveries start until every crash point is done.
    var messages: Int64 { 20_000 }
    var isShort: Bool { CrashPoint.isCompiledIn }

    private static let messagesPerPart = 100
    /// The minimum number of deaths at each point.
    private static let times = 3
    /// The maximum number of rounds over all points until enough deaths have met full wires.
    private static let rounds = 3
    /// How long a process may take to reach the point. Then the host is restarted, in case every process had passed the
    /// point before it was armed.
    private static let limit = Duration.seconds(30)
    /// The maximum number of starts of the host for one death.
    private static let starts = 4
    /// How long the gateway may take to notice that a sender is gone. The next child has not begun to send by then.
    private static let breakLimit = Duration.milliseconds(300)
    /// The variable that arms a crash point.
    private static let variable = "PUSHMTA_CRASH_POINT"

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        // Debug builds are slow; with a longer latency enough requests are open nevertheless.
        try await site.startSimulator(DrillGateway(latencyMilliseconds: 150))
        // With small parts every step of the protocol happens often.
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

    /// Has processes of the host die at one point several times, and stops the host.
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
                throw DrillFailure("cannot write \(file)")
            }
            let streams = try await untilDead(site, host, point, file: file, audience)
            site.noteFaults("death \(number) at visit \(visit) of \(point.rawValue)", number: 1, streams: streams)
        }
        try await host.stop()
    }

    /// The visits of the point at which a process may die. It is never before its first messages: after such a death,
    /// the supervisor starts this kind of child again only after a minute. And it is late enough that the wire is full.
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

    /// Keeps the load up until a process has removed the file, which it does as it dies.
    ///
    /// - Returns: The requests that were open at the gateway when the process's connections broke. A supervisor has no
    ///   connections; for it, the requests of its children just after its death.
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
            guard start < Self.starts else { throw DrillFailure("no process died at \(point.rawValue)") }
            try await host.stop()
            before = try await site.gatewayCounts()
        }
        guard point != .midChunk else { return try await site.streams() }
        var streams: Int64 = 0
        // A child may die with nothing on the wire. Such a death breaks no connection with requests, and does not
        // count.
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

    /// Waits up to the limit for a process to die.
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
            if !isPreparing, try await site.streams() >= DrillFault.minStreams {
                // Only a new delivery has chunks to prepare.
                _ = try await site.deliver(to: audience) { $0.keepTrying() }
                isPreparing = true
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return !FileManager.default.fileExists(atPath: file)
    }
}
