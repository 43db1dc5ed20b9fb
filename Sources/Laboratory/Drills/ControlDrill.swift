import Administration
import PushCore
import Store

/// Pauses, resumes and stops deliveries at random moments.
struct ControlDrill: Drill {
    let name = "control"
    let summary = "pause, resume and stop of running deliveries at random moments"
    let promise = "nothing new reaches the gateways a second after the order; every message has its outcome"
    var needs: [DrillNeed] { [.simulator] }

    /// The minimum number of orders, and the maximum until enough of them have met requests on the wire.
    private static let orders = 24...80
    /// The deliveries that run at any time, so that the wire is never idle.
    private static let deliveries = 2
    /// One of this many orders is a stop.
    private static let stopsEvery = 6

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        var controlled: [ControlledDelivery] = []
        for number in 1...Self.orders.upperBound {
            let effective = site.faults.count { $0.counts }
            if number > Self.orders.lowerBound, effective >= minimumFaults { break }
            try await keepBusy(site, audience, &controlled)
            try await site.pause(milliseconds: 100...1_000)
            // Requests on the wire are checked before the deliveries' states. In the other order, a delivery might end
            // during the wait.
            try await site.until("requests on the wire", within: DrillSite.timeout) {
                if try await site.streams() >= DrillFault.minStreams { return true }
                try await keepBusy(site, audience, &controlled)
                return false
            }
            let isStop = number % Self.stopsEvery == 0
            guard let chosen = try await choose(site, controlled, isStop: isStop) else { continue }
            try await order(site, &controlled[chosen], isStop: isStop)
        }
        for index in controlled.indices where controlled[index].isPaused {
            controlled[index].resumed()
            try await unlessOver(site) { try await site.store().resumeDelivery(controlled[index].delivery.id) }
        }
        try await site.untilOver()
        try await expectEnds(site, controlled)
        try site.expectSilence(controlled)
    }

    private func start(_ site: DrillSite, _ audience: [String]) async throws -> ControlledDelivery {
        let delivery = try await site.deliver(to: audience, policy: .report, allows: [.canceled])
        let key = try await site.store().deliveryForSending(delivery.id).trackingKey
        return ControlledDelivery(delivery, codec: try MessageIDCodec(deliveryID: delivery.id, trackingKey: key))
    }

    /// Starts deliveries until enough of them run.
    private func keepBusy(_ site: DrillSite, _ audience: [String], _ all: inout [ControlledDelivery]) async throws {
        while try await running(site, all) < Self.deliveries { all.append(try await start(site, audience)) }
    }

    /// The number of deliveries that are neither paused, stopped nor over.
    private func running(_ site: DrillSite, _ all: [ControlledDelivery]) async throws -> Int {
        var count = 0
        for one in all where !one.isPaused && !one.isStopped {
            if try await !site.progress(one.delivery).state.isFinal { count += 1 }
        }
        return count
    }

    /// A random delivery that is being sent. For orders other than a stop, half of the time a paused one.
    private func choose(_ site: DrillSite, _ all: [ControlledDelivery], isStop: Bool) async throws -> Int? {
        var running: [Int] = []
        for (index, one) in all.enumerated() where !one.isPaused && !one.isStopped {
            let progress = try await site.progress(one.delivery)
            if progress.state == .inProgress, progress.partsClaimed > 0 { running.append(index) }
        }
        let paused = all.indices.filter { all[$0].isPaused }
        if !isStop, !paused.isEmpty, running.isEmpty || site.random(in: 0...1) == 0 {
            return site.randomElement(of: paused)
        }
        return site.randomElement(of: running.isEmpty ? paused : running)
    }

    private func order(_ site: DrillSite, _ one: inout ControlledDelivery, isStop: Bool) async throws {
        let store = try site.store()
        let id = one.delivery.id
        let isResume = one.isPaused && !isStop
        let word = isStop ? "stop" : isResume ? "resume" : "pause"
        if isResume { one.resumed() }
        let isDone = try await unlessOver(site) {
            // It does not wait: the order counts as a fault if enough requests are on the wire at this moment.
            try await site.fault("\(word) of delivery \(id)", minimumStreams: 0) {
                if isStop {
                    try await store.stopDelivery(id)
                } else if isResume {
                    try await store.resumeDelivery(id)
                } else {
                    try await store.pauseDelivery(id)
                }
            }
        }
        if isDone, !isResume { one.held(forGood: isStop) }
    }

    /// Gives an order.
    ///
    /// - Returns: Whether the order took effect. The delivery may have ended since it was chosen.
    @discardableResult
    private func unlessOver(_ site: DrillSite, _ order: () async throws -> Void) async throws -> Bool {
        do {
            try await order()
            return true
        } catch let error as StoreError where error.code == .conflict {
            site.note("the order had no effect: \(error)")
            return false
        }
    }

    private func expectEnds(_ site: DrillSite, _ controlled: [ControlledDelivery]) async throws {
        let stopped = controlled.filter(\.isStopped)
        site.expect(stopped.count >= 2, "only \(stopped.count) deliveries were stopped")
        var canceled: Int64 = 0
        for one in stopped {
            let progress = try await site.progress(one.delivery)
            site.expect(
                progress.state == .stopped,
                "delivery \(progress.id) is \(progress.state.rawValue), not stopped"
            )
            site.expect(progress.pending == 0, "delivery \(progress.id): \(progress.pending) messages are pending")
            let resolved = progress.sent + progress.canceled
            site.expect(
                resolved == progress.target,
                "delivery \(progress.id): \(resolved) of \(progress.target) sent or canceled"
            )
            canceled += progress.canceled
        }
        site.expect(canceled > 0, "no stop canceled a message")
        let ended = Set(stopped.map(\.delivery.id))
        try await site.expectAllSent(site.deliveries.filter { !ended.contains($0.id) }, attempts: 1...1)
    }
}

extension DrillSite {
    /// Expects that no message of a delivery arrived while it was held.
    ///
    /// - Parameter least: More messages than this must have arrived in the second before an order.
    func expectSilence(_ controlled: [ControlledDelivery], after least: Int = 1_000) throws {
        var times: [[Double]] = Array(repeating: [], count: controlled.count)
        for arrival in try arrivals() {
            guard let uuid = MessageUUID(arrival.id) else { continue }
            // Decryption with another delivery's key gives no number.
            if let index = controlled.firstIndex(where: { $0.codec.sequence(of: uuid) != nil }) {
                times[index].append(arrival.time)
            }
        }
        var before = 0
        for (one, times) in zip(controlled, times) {
            let found = one.arrivals(times)
            before += found.before
            expect(
                found.late.isEmpty,
                "delivery \(one.delivery.id): \(found.late.count) messages arrived more than "
                    + "\(ControlledDelivery.limit) s after "
                    + "the order, the last after \(found.late.max() ?? 0) s"
            )
        }
        expect(
            before > least,
            "only \(before) messages arrived in the second before an order: nothing was interrupted"
        )
    }
}
