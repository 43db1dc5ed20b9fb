import Administration
import Foundation
import PushCore
import Store

/// Two hosts send to one project with a configured quota, and one of them dies. Together they use the quota without
/// exceeding it.
struct SharedQuotaDrill: Drill {
    let name = "shared-quota"
    let summary = "two hosts, one FCM project with a quota per minute; one host is killed in the middle and restarted"
    let promise = "no 429 after the first minute, 95 % of the quota used, 85 % in the minute of the kill"
    let needs: [DrillNeed] = [.simulator]
    /// At the quota fewer requests are open than a fault needs to count.
    let minimumFaults = 0
    /// Enough for more than three minutes at the quota, after a first minute in which the rate grows.
    let messages: Int64 = 200_000

    /// The quota, in messages a minute.
    private static let quota = 60_000
    private static let minute = 60.0
    /// When the host is killed, and when it is restarted, in seconds after the first message.
    private static let killed = 150.0
    private static let back = 185.0
    /// Seconds after the kill until the other host has the dead host's parts. It has had the share of the rate long
    /// before.
    private static let takenOver = 20.0

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(arguments: ["--quota", String(Self.quota)]))
        let audience = try await site.audience([.android])
        try await TestAudience(store: site.store(), settings: site.settings(), simulator: site.gateway())
            .limitProject(to: Double(Self.quota) / Self.minute)
        for number in 1...2 {
            try await site.addHost("host\(number)", DrillHostSetup(children: 1)).start()
        }
        let delivery = try await site.deliver(to: audience)
        try await site.beginCampaigns(to: audience, policy: .resend)
        try await site.until("the first message", within: .seconds(60)) {
            try await site.acceptedPushes() > 0
        }
        let start = ContinuousClock.now
        try await Task.sleep(until: start + .seconds(Self.killed), clock: .continuous)
        let host = site.hosts[0]
        try await site.fault("host \(host.name) dies", minimumStreams: 0) { try await host.killAll() }
        try await Task.sleep(until: start + .seconds(Self.back), clock: .continuous)
        try await host.start()
        try await site.untilOver()
        try judge(site)
        try await site.expectAllSent([delivery], attempts: 1...2)
    }

    /// Checks how much of the quota each minute used, counted from the first message.
    private func judge(_ site: DrillSite) throws {
        let arrivals = try site.arrivals()
        guard let first = arrivals.first?.time, let last = arrivals.last?.time else { return }
        let refused = arrivals.filter { $0.status == 429 }
        let late = refused.count { $0.time - first >= Self.minute }
        site.note("\(refused.count) messages were refused with 429, \(late) of them after the first minute")
        site.expect(late == 0, "\(late) messages were refused with 429 after the first minute")
        for number in 1..<max(2, Int((last - first) / Self.minute)) {
            let begin = Double(number) * Self.minute
            let isKilled = (begin..<begin + Self.minute).contains(Self.killed)
            let used = count(arrivals, from: first + begin, for: Self.minute) / Double(Self.quota)
            site.note("minute \(number + 1): \(Int((used * 1_000).rounded())) ‰ of the quota")
            let least = isKilled ? 0.85 : 0.95
            site.expect(used >= least, "minute \(number + 1) used \(used) of the quota")
            site.expect(used <= 1.001, "minute \(number + 1) used \(used) of the quota")
        }
        let rest = Self.back - Self.killed - Self.takenOver
        let after = count(arrivals, from: first + Self.killed + Self.takenOver, for: rest)
        let share = after / (Double(Self.quota) / Self.minute * rest)
        site.note("the other host used \(Int((share * 1_000).rounded())) ‰ of the quota from 20 s after the kill")
        site.expect(share >= 0.95, "the other host used only \(share) of the quota after the kill")
    }

    private func count(_ arrivals: [GatewayRecordLine], from begin: Double, for seconds: Double) -> Double {
        Double(arrivals.count { $0.status == 200 && $0.time >= begin && $0.time < begin + seconds })
    }
}
