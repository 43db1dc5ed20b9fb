import Foundation
import PushCore

/// A process dies at each crash point of the protocol, several times.
struct CrashPointsDrill: Drill {
    let name = "crash-points"
    let summary = "a process dies at every step of the protocol on purpose (debug builds)"
    let promise = "lost 0, counts exact, duplicates only among ambiguous messages"
    var needs: [DrillNeed] { [.crashPoints] }

    /// Deaths at each point.
    private static let times = 3
    /// How long a process may take to get there. A kind of children whose start failed is held back for a minute.
    private static let limit = Duration.seconds(120)

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator()
        var host = try site.addHost("host", DrillHostSetup(children: 2))
        let audience = try await site.audience([.ios, .android])
        try await site.keepSending(to: audience, policy: .resend)
        for point in site.shuffled(CrashPoint.allCases) {
            let file = site.folder + "/armed-" + point.rawValue
            let visit = site.random(in: Self.visits(point))
            host.place.environment[Self.variable] = "\(point.rawValue):\(visit):\(file)"
            for number in 1...Self.times {
                guard FileManager.default.createFile(atPath: file, contents: nil) else {
                    throw DrillSetback("\(file) cannot be written")
                }
                if host.supervisorID == nil { try await host.start() }
                let streams = try await untilDead(site, host, point, file: file, audience)
                site.noteFaults("death \(number) at visit \(visit) of \(point.rawValue)", number: 1, streams: streams)
            }
            try await host.stop()
        }
        host.place.environment[Self.variable] = nil
        try await host.start()
        try await site.untilOver()
    }

    /// The variable that arms a crash point.
    private static let variable = "PUSHMTA_CRASH_POINT"

    /// At which visits a process may die there: never before its first messages, because a kind of children that dies then is
    /// started again only after a minute.
    private static func visits(_ point: CrashPoint) -> ClosedRange<Int> {
        switch point {
        case .afterClaim: 2...4
        case .afterMark, .beforeCommit, .afterCommit: 2...10
        case .afterIntent, .beforeWrite, .afterAnswer: 5...60
        case .beforePartEnd: 1...4
        case .midChunk: 1...2
        }
    }

    /// Keeps the load up until a process has removed the file, which it does when it dies.
    ///
    /// - Returns: The streams that were open at the last look before.
    private func untilDead(
        _ site: DrillSite,
        _ host: DrillHost,
        _ point: CrashPoint,
        file: String,
        _ audience: [String]
    ) async throws -> Int64 {
        var streams: Int64 = 0
        var isPreparing = point != .midChunk
        try await site.until("a death at \(point.rawValue)", within: Self.limit, every: .milliseconds(5)) {
            guard FileManager.default.fileExists(atPath: file) else { return true }
            streams = try await site.streams()
            try await site.refill()
            if !isPreparing, streams >= DrillFault.leastStreams {
                // Only a delivery that begins has chunks to prepare.
                _ = try await site.deliver(to: audience)
                isPreparing = true
            }
            return false
        }
        return streams
    }
}
