import Administration
import LaboratoryStore
import PushCore
import Store

/// Deliveries are recalled while two hosts send them, and at the same moment processes are killed.
struct RecallDrill: Drill {
    /// What is killed at a recall.
    enum Victim: Sendable {
        /// A random child.
        case child
        /// The supervisor of a random host.
        case supervisor
        /// Supervisor and children of a random host.
        case host
        /// The database server.
        case database
    }

    let name = "recall"
    let summary =
        "recall of running deliveries on two hosts, each with a SIGKILL of a child, a supervisor, both or PostgreSQL"
    let promise = "nothing new reaches the gateways a second after the recall; its report adds up; lost 0"
    var needs: [DrillNeed] { [.simulator] }
    let minimumFaults = 10

    /// Each kind meets each mode.
    private static let victims: [Victim] = [.child, .supervisor, .host, .database]
    private static let modes: [RecallMode] = [.replace, .stop, .remove]
    private static let content =
        #"{"ios": {"title": "Sale", "collapse_id": "sale"}, "android": {"title": "Sale", "tag": "sale"}}"#
    private static let replacement = #"{"ios": {"title": "Sorry"}, "android": {"title": "Sorry"}}"#
    /// The maximum pause of a child before it connects to a restarted database again, in seconds. Until then it may
    /// send what it has marked.
    private static let maxReconnectPause = 4.0

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator()
        try await site.setPlans(.calm)
        for name in ["one", "two"] { try await site.addHost(name, DrillHostSetup(children: 2)).start() }
        let audience = try await site.audience([.ios, .android])
        var controlled: [ControlledDelivery] = []
        var reports: [RecallReport] = []
        for mode in Self.modes {
            for victim in site.shuffled(Self.victims) {
                var one = try await untilSending(site, audience)
                try await recall(site, &one, mode, victim)
                controlled.append(one)
                reports.append(try await site.untilRecalled(one.delivery))
            }
        }
        site.expect(reports.contains { $0.unsent > 0 }, "no recall stopped a message")
        site.expect(reports.contains { $0.replaced > 0 }, "no recall replaced a message")
        try site.expectSilence(controlled)
    }

    /// Starts deliveries, one after another, until one has enough requests on the wire. The first ones may end before
    /// that.
    private func untilSending(_ site: DrillSite, _ audience: [String]) async throws -> ControlledDelivery {
        var running = try await start(site, audience)
        try await site.until("requests on the wire", within: DrillSite.timeout) {
            let progress = try await site.progress(running.delivery)
            if progress.state.isFinal { running = try await start(site, audience) }
            guard progress.sent > 0 else { return false }
            return try await site.streams() >= DrillFault.minStreams
        }
        return running
    }

    private func start(_ site: DrillSite, _ audience: [String]) async throws -> ControlledDelivery {
        let delivery = try await site.deliver(to: audience, allows: [.canceled, .unknown]) { $0.content = Self.content }
        let key = try await site.store().trackingKey(delivery: delivery.id)
        return ControlledDelivery(delivery, codec: try MessageIDCodec(deliveryID: delivery.id, trackingKey: key))
    }

    /// Recalls a delivery and kills something just before or after, and starts that again.
    private func recall(_ site: DrillSite, _ one: inout ControlledDelivery, _ mode: RecallMode, _ victim: Victim)
        async throws
    {
        guard let host = site.randomElement(of: site.hosts) else { throw DrillFailure("the site has no host") }
        let (id, isFirst) = (one.delivery.id, site.random(in: 0...1) == 0)
        let words = "recall (\(mode.rawValue)) of delivery \(id), \(isFirst ? "after" : "before") SIGKILL: \(victim)"
        var recalled = one
        // It does not wait for requests: the delivery might end meanwhile.
        try await site.fault(words, minimumStreams: 0) {
            if isFirst { try await kill(site, host, victim) }
            try await order(site, id, mode)
            // Children learn of it when they have reached the restarted database.
            if victim != .database { recalled.held(forGood: true) }
            if !isFirst { try await kill(site, host, victim) }
        }
        if victim == .database { recalled.held(forGood: true, after: Self.maxReconnectPause) }
        one = recalled
        if host.supervisorID == nil { try await host.start() }
        await site.expectNoZombies()
    }

    private func kill(_ site: DrillSite, _ host: DrillHost, _ victim: Victim) async throws {
        switch victim {
        case .child:
            guard let child = site.randomElement(of: site.hosts.flatMap { $0.childIDs() }) else {
                throw DrillFailure("no host has a child")
            }
            host.signal(child, DrillSignal.kill)
        case .supervisor: try await host.killSupervisor()
        case .host: try await host.killAll()
        case .database:
            try await site.cluster.stop(.immediate)
            try await site.cluster.start()
        }
    }

    /// Recalls a delivery, if need be again after the database has lost the reply.
    private func order(_ site: DrillSite, _ id: Int64, _ mode: RecallMode) async throws {
        try await site.until("the recall of delivery \(id)", within: DrillSite.timeout) {
            do {
                let content = mode == .replace ? Self.replacement : nil
                try await site.store().recallDelivery(id, reason: "drill", mode: mode, content: content)
            } catch let error as StoreError where error.code == .conflict {
                site.note("delivery \(id) was recalled before: \(error)")
            }
            return true
        }
    }
}
