import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// Somebody registers devices that there are not, as many as 1,000, while messages go to real ones.
struct FalseDevicesDrill: Drill {
    let name = "false-devices"
    let summary = "1,000 devices with invented push tokens among real ones; bulk and single messages to all of them"
    let promise =
        "every message to a real device sent, those to the others failed; no circuit opened, no token disabled"
    var needs: [DrillNeed] { [.simulator] }
    /// A message to each of the false devices in each delivery is the fault.
    var minimumFaults: Int { 1 }
    let messages: Int64 = 20_000

    private static let falseDevices: Int64 = 1_000
    /// Single messages to false devices and as many to real ones, in turn: many times what opened a circuit when all counted.
    private static let singles = 300
    private static let bulks = 2

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios])
        let first = try await site.deliver(to: audience)
        try await site.untilOver()
        try await site.expectAllSent([first], attempts: 1...1)
        let devices = try await register(site, audience[0])
        let single = try await startContinuous(site, audience)
        var bulks: [DrillDelivery] = []
        for _ in 0..<Self.bulks {
            bulks.append(
                try await site.deliver(to: audience, messages: site.messages + Self.falseDevices, allows: [.failed])
            )
        }
        var streams: Int64 = 0
        try await site.until("requests on the wire", within: DrillSite.timeout) {
            streams = try await site.streams()
            return streams >= DrillFault.leastStreams
        }
        let singles = try await sendSingles(site, single, devices)
        for delivery in bulks { try await site.untilOver(delivery) }
        for delivery in bulks { try await expect(site, delivery, sent: site.messages, failed: Self.falseDevices) }
        try await expectSingles(site, singles)
        let rejected = try await site.gatewayCounts().rejected("BadDeviceToken")
        site.expect(
            rejected >= Self.falseDevices * Int64(Self.bulks),
            "only \(rejected) pushes got BadDeviceToken: the false devices were not tried"
        )
        site.noteFaults("a message to each of \(Self.falseDevices) false devices", number: 1, streams: streams)
        let health = try await site.store().applicationHealth()
        site.expect(
            health.allSatisfy { $0.state == .closed && $0.probes == 0 && $0.openedAt == nil },
            "a circuit was opened: \(health.map(\.reason))"
        )
        for delivery in bulks {
            let disabled = try await site.store().tokenEventCounts(delivery: delivery.id)
                .filter { $0.kind == .invalid }.reduce(0) { $0 + $1.applied }
            site.expect(disabled == 0, "delivery \(delivery.id) disabled \(disabled) subscriptions")
        }
    }

    /// What the false devices, and as many real ones, are called in the database.
    private struct Devices {
        var real: [Int64]
        var invented: [Int64]
    }

    /// They come last, as they do where somebody registers them: whole parts are of nothing else.
    private func register(_ site: DrillSite, _ application: String) async throws -> Devices {
        let store = try site.store()
        try await store.seedSubscriptions(application: application, count: Self.falseDevices)
        // The newest first.
        let newest = try await store.subscriptions(application: application, limit: Int(Self.falseDevices) * 2)
        let invented = newest.prefix(Int(Self.falseDevices))
        let tokens = invented.map { "\"\($0.pushToken)\"" }.joined(separator: ",")
        try await site.control?.post("/devices", "{\"tokens\":[\(tokens)],\"state\":\"BadDeviceToken\"}")
        return Devices(real: newest.dropFirst(invented.count).map(\.id), invented: invented.map(\.id))
    }

    /// Starts a delivery to which messages are added.
    private func startContinuous(_ site: DrillSite, _ audience: [String]) async throws -> Int64 {
        let store = try site.store()
        var new = NewDelivery(label: "Drill \(name)", applications: audience, content: TestAudience.content)
        new.isContinuous = true
        let id = try await store.createDelivery(new)
        try await store.startDelivery(id)
        try await site.until("a delivery that takes messages", within: DrillSite.timeout) {
            try await store.deliveryProgress(id).state == .inProgress
        }
        return id
    }

    /// Adds single messages to a continuous delivery, one to a false device and one to a real one in turn, the false one first.
    private func sendSingles(_ site: DrillSite, _ delivery: Int64, _ devices: Devices) async throws -> Set<Int64> {
        let store = try site.store()
        var days: [Int64: Int64] = [:]
        for (invented, real) in zip(devices.invented, devices.real).prefix(Self.singles) {
            for device in [invented, real] {
                for sent in try await store.sendMessage(
                    NewMessage(deliveryID: delivery, address: .subscription(device))
                ) {
                    days[sent.deliveryID, default: 0] += 1
                }
            }
        }
        // They stand in the account, as every delivery does.
        site.state.withLock { state in
            for (day, count) in days.sorted(by: { $0.key < $1.key }) {
                state.deliveries.append(DrillDelivery(id: day, policy: .resend, messages: count, allows: [.failed]))
            }
        }
        return Set(days.keys)
    }

    private func expectSingles(_ site: DrillSite, _ days: Set<Int64>) async throws {
        let deliveries = site.deliveries.filter { days.contains($0.id) }
        try await site.until("the outcomes of single messages", within: DrillSite.timeout) {
            for delivery in deliveries where try await site.progress(delivery).pending > 0 { return false }
            return true
        }
        var (sent, failed): (Int64, Int64) = (0, 0)
        for delivery in deliveries {
            let progress = try await site.progress(delivery)
            sent += progress.sent
            failed += progress.failed
        }
        site.expect(
            sent == Int64(Self.singles) && failed == Int64(Self.singles),
            "\(sent) single messages were sent and \(failed) failed, of \(Self.singles) each"
        )
    }

    private func expect(_ site: DrillSite, _ delivery: DrillDelivery, sent: Int64, failed: Int64) async throws {
        let progress = try await site.progress(delivery)
        site.expect(
            progress.sent == sent && progress.failed == failed,
            "delivery \(delivery.id): \(progress.sent) sent, \(progress.failed) failed, \(progress.pending) pending of \(progress.target)"
        )
    }
}
