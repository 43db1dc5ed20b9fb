import PushCore
import Store

/// The wall clock of one host, or of the database's host, is wrong by up to ten minutes and steps.
struct ClockDrill: Drill {
    /// Whose clock.
    enum Place: String, Sendable {
        /// One of two hosts.
        case host
        /// The database's server.
        case database
    }

    /// Whose clock it is.
    let place: Place

    var name: String { "clock-\(place.rawValue)" }
    var summary: String {
        (place == .host ? "the clock of one of two hosts" : "the clock of the database's host")
            + " steps by up to ±10 minutes"
    }
    let promise = "no lease lost or stolen, no message expired or kept back"
    let needs: [DrillNeed] = [.simulator]

    /// How far the clock is off, in seconds: far ahead, far behind, a little, and right again.
    private static let steps: [Int64] = [600, -600, 0, 45, -45, 600, -600]

    /// How long the last messages are valid, in seconds: for less than a clock is off.
    private static let validity: Int64 = 300
    /// How long a delivery may stand still before it counts as kept back: far less than a clock is off.
    private static let patience = Duration.seconds(45)
    private static let streams = 100

    func run(_ site: DrillSite) async throws {
        let clock = try ShiftedClock(folder: site.cluster.folder + "-clock", programs: site.programs)
        site.onCleanup { clock.remove() }
        site.leaveNote(clock.removalCommand)
        if place == .database { site.configureCluster { $0.environment = clock.environment } }
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: Self.streams))
        try await site.addHost("host1").start()
        try await site.addHost("host2", DrillHostSetup(environment: place == .host ? clock.environment : [:])).start()
        let audience = try await site.audience([.ios, .android])
        try await site.keepSending(to: audience)
        let rate = try await site.undisturbedRate()
        for number in 1...minimumFaults { try await step(site, clock, number, rate) }
        try await site.untilOver()
        try await sendAgainLater(site, audience, clock)
        try await sendInTime(site, audience, clock)
        try await site.expectNoLostLease(once: true)
        try await expectAllSent(site)
    }

    private func step(_ site: DrillSite, _ clock: ShiftedClock, _ number: Int, _ rate: Double) async throws {
        // Each shift comes at least once, and some more by chance.
        let chosen = site.randomElement(of: Self.steps) ?? 0
        let seconds = number <= Self.steps.count ? Self.steps[number - 1] : chosen
        let what = "the clock of the \(place.rawValue) is off by \(seconds) s"
        if number.isMultiple(of: 5) {
            try await site.outage(what, rate: rate) { try await shift(site, clock, by: seconds) }
        } else {
            try await site.fault(what) { try await shift(site, clock, by: seconds) }
        }
        try await site.pause(milliseconds: 200...2_000)
    }

    /// Steps the clock and looks whether the right ones see it: without root's rights, or where a folder cannot be entered,
    /// they might not, and every promise would be kept.
    private func shift(_ site: DrillSite, _ clock: ShiftedClock, by seconds: Int64) async throws {
        try clock.set(.seconds(seconds))
        switch place {
        case .host:
            for host in site.hosts.dropFirst() { try await site.untilProcesses(of: host, use: clock) }
            try await site.untilDatabaseClock(isAheadBy: 0)
        case .database: try await site.untilDatabaseClock(isAheadBy: seconds)
        }
    }

    /// A delivery that begins while the clock is far ahead has parts that are due then, and messages that are to be sent again a
    /// second later. None of them may wait until the right clock gets there.
    private func sendAgainLater(_ site: DrillSite, _ audience: [String], _ clock: ShiftedClock) async throws {
        try await shift(site, clock, by: 600)
        for (gateway, reason) in [("apns", "ServiceUnavailable"), ("fcm", "UNAVAILABLE")] {
            var plan = GatewayPlan.errors(reason, rate: 0.02, retryAfter: "1")
            plan.faults.append(("max_concurrent_streams", .integer(Int64(Self.streams))))
            try await site.setPlan(plan, gateway)
        }
        let delivery = try await site.deliver(to: audience) { $0.retryPeriodSeconds = 1 }
        try await untilUnderWay(site, delivery)
        for seconds in site.shuffled(Self.steps) {
            try await shift(site, clock, by: seconds)
            try await site.pause(milliseconds: 200...1_000)
        }
        try await shift(site, clock, by: -600)
        try await site.untilOver(delivery, patience: Self.patience)
    }

    /// Children that have last seen the clock when it was far ahead send messages that are valid for minutes only.
    private func sendInTime(_ site: DrillSite, _ audience: [String], _ clock: ShiftedClock) async throws {
        try await shift(site, clock, by: 600)
        for host in site.hosts { try await host.stop() }
        for host in site.hosts { try await host.start() }
        try await site.until("children of both hosts", within: .seconds(60)) {
            Set(try await site.children().map(\.hostID)).count == site.hosts.count
        }
        // A child that has its row reads the clock a moment later.
        try await site.pause(milliseconds: 1_000...2_000)
        try await shift(site, clock, by: -600)
        let delivery = try await site.deliver(to: audience) { $0.validitySeconds = Self.validity }
        try await site.untilOver(delivery, patience: Self.patience)
    }

    private func untilUnderWay(_ site: DrillSite, _ delivery: DrillDelivery) async throws {
        try await site.until("delivery \(delivery.id) is under way", within: .seconds(60)) {
            try await site.progress(delivery).sent > 0
        }
    }

    private func expectAllSent(_ site: DrillSite) async throws {
        for delivery in site.deliveries {
            let progress = try await site.progress(delivery)
            site.expect(
                progress.sent == progress.target,
                "delivery \(delivery.id): \(progress.sent) of \(progress.target) sent, \(progress.ignored) ignored, \(progress.failed) failed"
            )
        }
    }
}
