import Administration
import CurlClient
import Foundation
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// A stranger with an app's binary registers 1,000 devices that do not exist, each with its own parameters, version and
/// language. The stranger also replays one tracking id, while messages go to real devices.
struct StrangersDrill: Drill {
    let name = "strangers"
    let summary =
        "1,000 invented devices register, each with 20 kB of parameters and its own version and language, and one "
        + "receipt arrives "
        + "5,000 times; bulk and single messages to all of them"
    let promise =
        "every message to a real device sent, those to invented ones failed; no circuit opened, no token disabled; "
        + "what is stored of them is "
        + "bounded"
    var needs: [DrillNeed] { [.simulator] }
    /// The messages to the false devices are the one fault.
    var minimumFaults: Int { 1 }
    let messages: Int64 = 20_000

    private static let falseDevices: Int64 = 1_000
    /// The single messages to false devices, and as many to real ones, alternating. Their number is many times what
    /// would open a circuit if all of them counted.
    private static let singles = 300
    private static let bulks = 2
    /// How often the receipt of one message is sent.
    private static let replays = 5_000
    /// The size of a registration's parameters that no application has declared, in bytes.
    private static let undeclared = 20_000

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios])
        let first = try await site.deliver(to: audience)
        try await site.untilOver()
        try await site.expectAllSent([first], attempts: 1...1)
        let stranger = try await Stranger(site)
        let devices = try await register(site, audience[0], stranger)
        try await replay(site, first, stranger)
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
            return streams >= DrillFault.minStreams
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
        for delivery in bulks { try await expectBounds(site, delivery) }
    }

    /// The subscription ids of the false devices and of as many real ones.
    private struct Devices {
        var real: [Int64]
        var invented: [Int64]
    }

    /// Registers the false devices. They are the newest, so whole parts consist only of them.
    private func register(_ site: DrillSite, _ application: String, _ stranger: Stranger) async throws -> Devices {
        let store = try site.store()
        let known = try await store.registrableApplications().first { $0.name == application }
        guard let key = known?.integrationKey else { throw DrillFailure("there is no application \(application)") }
        let noise = String(repeating: "y", count: Self.undeclared)
        try await stranger.repeatedly(Int(Self.falseDevices)) { number in
            let token = (0..<4).map { _ in
                let hex = String(site.random(in: UInt64.min...UInt64.max), radix: 16)
                return String(repeating: "0", count: 16 - hex.count) + hex
            }
            let device = "registrationToken=\(token.joined())&mobileAppUuid=\(key)&userKey=stranger-\(number)"
            return (
                "/nms/mobile/1/registerIOS.jssp",
                device + "&osLanguage=x\(number)&appVersion=9.\(number)&noise=\(noise)"
            )
        }
        // The list has the newest first.
        let newest = try await store.subscriptions(application: application, limit: Int(Self.falseDevices) * 2)
        let invented = newest.prefix(Int(Self.falseDevices))
        let tokens = invented.map { "\"\($0.pushToken)\"" }.joined(separator: ",")
        try await site.control?.post("/devices", "{\"tokens\":[\(tokens)],\"state\":\"BadDeviceToken\"}")
        return Devices(real: newest.dropFirst(invented.count).map(\.id), invented: invented.map(\.id))
    }

    /// Sends one receipt repeatedly.
    private func replay(_ site: DrillSite, _ delivery: DrillDelivery, _ stranger: Stranger) async throws {
        guard let message = try site.arrivals().first?.id else { throw DrillFailure("no message reached a gateway") }
        let hit = "/r/?id=h\(message),\(DeliveryID.hexText(delivery.id)),1"
        try await stranger.repeatedly(Self.replays) { _ in (hit, nil) }
        let store = try site.store()
        var kept = try await store.kept(ofDelivery: delivery.id)
        try await site.until("the first receipts", within: DrillSite.timeout) {
            kept = try await store.kept(ofDelivery: delivery.id)
            return kept.hits > 0
        }
        site.expect(kept.hits <= 10, "\(kept.hits) rows are stored of one receipt that was sent \(Self.replays) times")
    }

    /// Checks the bounds of what is stored of the strangers, once the statistics have the outcomes of all messages.
    private func expectBounds(_ site: DrillSite, _ delivery: DrillDelivery) async throws {
        let store = try site.store()
        var kept = try await store.kept(ofDelivery: delivery.id)
        try await site.until("the outcomes of all messages in the statistics", within: DrillSite.timeout) {
            kept = try await store.kept(ofDelivery: delivery.id)
            return kept.counted == delivery.messages
        }
        site.note("stored: \(kept)")
        site.expect(
            kept.maxExtraLength <= 4_300,
            "a registration stores \(kept.maxExtraLength) bytes of undeclared parameters"
        )
        // There are 40 of each, "other", and an entry for those without one.
        site.expect(
            kept.versions <= 42 && kept.locales <= 42,
            "\(kept.versions) versions and \(kept.locales) languages are counted separately"
        )
    }

    /// Starts a continuous delivery.
    private func startContinuous(_ site: DrillSite, _ audience: [String]) async throws -> Int64 {
        let store = try site.store()
        var new = NewDelivery(label: "Drill \(name)", applications: audience, content: TestAudience.content)
        new.isContinuous = true
        let id = try await store.createDelivery(new)
        try await store.startDelivery(id)
        try await site.until("a delivery that accepts messages", within: DrillSite.timeout) {
            try await store.deliveryProgress(id).state == .inProgress
        }
        return id
    }

    /// Adds single messages to a continuous delivery, alternating between false and real devices, a false one first.
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
        // The continuous deliveries belong to the reconciliation, too.
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
            "delivery \(delivery.id): \(progress.sent) sent, \(progress.failed) failed, \(progress.pending) pending "
                + "of \(progress.target)"
        )
    }
}

/// The stranger, who has an app's binary, and the web process and feedback worker that serve the requests.
private struct Stranger: Sendable {
    private static let connections = 8
    private let base: String
    private let client = CurlClient()

    init(_ site: DrillSite) async throws {
        guard let host = site.hosts.first else { throw DrillFailure("there is no host") }
        var settings = host.settings
        settings.web.port = try await FreePort.any()
        settings.web.workingPath = host.folder + "/spool"
        try host.place.write(settings)
        base = "http://127.0.0.1:\(settings.web.port)"
        for (name, command) in [("web process", "web"), ("feedback worker", "feedback")] {
            let process = BackgroundProcess(
                name: name,
                recordFile: "\(host.folder)/run/\(command).pid",
                logFile: "\(host.folder)/log/\(command).log"
            )
            try await host.place.start(process, command)
            site.onCleanup { _ = try? await process.stop() }
        }
        let (client, ready) = (client, base + "/health/ready")
        try await site.until("a web process that answers", within: DrillSite.timeout) {
            (try? await client.perform(CurlRequest(url: ready)))?.status == 200
        }
    }

    /// Makes `count` requests, on several connections in parallel.
    ///
    /// - Parameter request: The path and, for a POST, the body of the request with this number.
    func repeatedly(_ count: Int, _ request: @escaping @Sendable (Int) -> (path: String, form: String?)) async throws {
        try await withThrowingTaskGroup { group in
            for first in 0..<Self.connections {
                group.addTask {
                    for number in stride(from: first, to: count, by: Self.connections) {
                        try await ask(request(number))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func ask(_ request: (path: String, form: String?)) async throws {
        var asked = CurlRequest(url: base + request.path)
        if let form = request.form {
            asked.method = "POST"
            asked.headers = [CurlHeader("content-type", "application/x-www-form-urlencoded")]
            asked.body = Array(form.utf8)
        }
        let answer = try await client.perform(asked)
        guard answer.status == 200 else {
            throw DrillFailure("\(request.path) was answered with \(answer.status)")
        }
    }
}
