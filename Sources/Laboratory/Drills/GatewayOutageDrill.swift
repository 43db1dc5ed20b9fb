import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// Gateways are down for a while in every possible way at the same time. Each way has its own gateway, and an
/// application per platform. Retries and settings are the defaults.
struct GatewayOutageDrill: Drill {
    let name = "gateway-outage"
    let summary =
        "gateways down for a while in sixteen ways in parallel: 503, 500, 429, a proxy's pages, refused, TLS, broken "
        + "protocol, silent, frozen, cut off, no tokens"
    let promise =
        "failed 0, no attempt counted, at most 10 requests a second per application meanwhile, rate recovered within "
        + "20 s"
    var needs: [DrillNeed] { [.networkNamespaces, .simulator] }
    /// Each row is one fault.
    var minimumFaults: Int { OutageRow.all.count }
    /// The messages of each application: enough for the time before the outage and until the rate has recovered.
    var messages: Int64 { OutageGateway.nominalRate * 75 }

    /// The interval between readings of the gateways' counters.
    private static let lookInterval = Duration.milliseconds(200)
    /// How long to wait for the rate to recover. It is beyond the limit, so that the table has the actual time.
    private static let recoveryTimeout = Duration.seconds(60)

    func run(_ site: DrillSite) async throws {
        var applications = try await start(site)
        try await measure(&applications, site)
        let waiting = try await waiting(at: applications)
        site.noteFaults("an outage", number: OutageRow.all.count, streams: waiting)
        try await outage(&applications, site)
        try await recover(&applications, site)
        for gateway in gateways(applications) { try await gateway.speedUp(seed: site.seed) }
        try await untilSinglesAreOver(applications, site)
        await withTaskGroup { group in
            for delivery in applications.map(\.delivery) {
                group.addTask {
                    // Unsent messages are in the table and in the reconciliation.
                    do { _ = try await site.untilOver(delivery) } catch { site.problem("\(error)") }
                }
            }
        }
        try await judge(applications, site)
    }

    /// Starts the cluster, the gateways, the deliveries and a host with a child for each application.
    private func start(_ site: DrillSite) async throws -> [OutageApplication] {
        let network = DrillNetwork(folder: site.folder, hostCount: 1)
        site.onCleanup { await network.remove() }
        site.leaveNote(network.removalCommand)
        try await network.make()
        try await site.startCluster()
        var applications: [OutageApplication] = []
        for row in OutageRow.all {
            var isCut = false
            if case .cut = row.apns { isCut = true }
            let gateway = try await OutageGateway(row, site: site, network: isCut ? network : nil)
            try await gateway.serve(seed: site.seed)
            applications += try await open(gateway, site)
        }
        let children = applications.count
        let host = try site.addHost("host", DrillHostSetup(children: children) { $0.mta.master.minSpareServers = 0 })
        try await host.start()
        for application in applications {
            let gateway = application.gateway
            let meter = application.meter
            let isAPNs = application.platform == .ios
            site.keepRunning { _ in
                while !Task.isCancelled {
                    if let counts = try? await gateway.counts() {
                        let accepted = isAPNs ? counts.apns.accepted : counts.fcm.accepted
                        meter.add(RateMeter.Sample(moment: .now, count: accepted))
                    }
                    try? await Task.sleep(for: Self.lookInterval)
                }
            }
        }
        return applications
    }

    /// Creates the applications of a row with their subscribers, and starts a delivery to each.
    private func open(_ gateway: OutageGateway, _ site: DrillSite) async throws -> [OutageApplication] {
        let row = gateway.row
        let count = site.messages + (row.isPartial ? OutageGateway.nominalRate * Int64(site.options.outageSeconds) : 0)
        var audience = TestAudience(
            store: try site.store(),
            settings: site.settings(),
            simulator: gateway.report,
            prefix: row.name
        )
        audience.connections = OutageGateway.connections
        let names = try await audience.create(row.platforms)
        var applications: [OutageApplication] = []
        for (name, platform) in zip(names, row.platforms) {
            try await audience.seed([name], count: count)
            applications.append(
                OutageApplication(
                    name: name,
                    platform: platform,
                    gateway: gateway,
                    delivery: try await site.deliver(to: [name], messages: count)
                )
            )
        }
        return applications
    }

    /// Measures the undisturbed rate of each application.
    private func measure(_ applications: inout [OutageApplication], _ site: DrillSite) async throws {
        for application in applications {
            try await site.until(
                "a steady rate of \(application.name)",
                within: .seconds(120),
                every: .milliseconds(200)
            ) {
                application.meter.isSteady
            }
        }
        for index in applications.indices {
            applications[index].rate = applications[index].meter.medianRate(before: .now) ?? 0
        }
    }

    private func outage(_ applications: inout [OutageApplication], _ site: DrillSite) async throws {
        let seconds = site.options.outageSeconds
        let watcher = DialWatcher(ports: Set(applications.map(\.port)))
        site.keepRunning { _ in await watcher.watch() }
        site.note("\(OutageRow.all.count) gateways go down for \(seconds) s")
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        let logged = (try? Data(contentsOf: Self.log(site)).count) ?? 0
        for gateway in gateways(applications) { try await gateway.begin(seed: site.seed) }
        for index in applications.indices { try await sendSingles(&applications[index], site) }
        // This sleep is the outage itself; it waits for nothing.
        try await Task.sleep(until: end, clock: .continuous)
        let refusals = Self.refusals(inLog: Self.log(site), from: logged)
        for index in applications.indices where applications[index].gateway.answersMeanwhile {
            applications[index].take(try await applications[index].gateway.counts(), watcher, refusals, seconds)
        }
        for gateway in gateways(applications) { try await gateway.end(seed: site.seed) }
        for index in applications.indices where !applications[index].gateway.answersMeanwhile {
            applications[index].take(try await applications[index].gateway.counts(), watcher, refusals, seconds)
        }
        site.note("the gateways are up again")
    }

    private static func log(_ site: DrillSite) -> URL { URL(fileURLWithPath: site.hosts.first?.log ?? "") }

    /// The refused dials by port, from the host's log. Of several simultaneous ones, as at the first loss, the log has
    /// one.
    private static func refusals(inLog log: URL, from offset: Int) -> [Int: Int] {
        guard let data = try? Data(contentsOf: log), data.count > offset else { return [:] }
        return refusals(in: String(decoding: data[offset...], as: UTF8.self))
    }

    /// The refused dials in these log lines, by port: "… gateway localhost:8443 cannot be reached (attempt 3): …".
    static func refusals(in lines: String) -> [Int: Int] {
        var refusals: [Int: Int] = [:]
        for line in lines.split(separator: "\n") {
            guard let end = line.range(of: " cannot be reached (attempt ")?.lowerBound,
                let colon = line[..<end].lastIndex(of: ":"), let port = Int(line[line.index(after: colon)..<end])
            else { continue }
            refusals[port, default: 0] += 1
        }
        return refusals
    }

    /// Starts a continuous delivery, and adds single messages to the application's subscribers.
    private func sendSingles(_ application: inout OutageApplication, _ site: DrillSite) async throws {
        let number = application.gateway.row.singles
        guard number > 0 else { return }
        let store = try site.store()
        var new = NewDelivery(
            label: "Drill \(name), singles",
            applications: [application.name],
            content: TestAudience.content
        )
        new.isContinuous = true
        let id = try await store.createDelivery(new)
        try await store.startDelivery(id)
        try await site.until("a delivery that accepts messages", within: DrillSite.timeout) {
            try await store.deliveryProgress(id).state == .inProgress
        }
        var days: [Int64: Int64] = [:]
        for subscription in try await store.subscriptions(application: application.name, limit: number) {
            let message = NewMessage(deliveryID: id, address: .subscription(subscription.id))
            for sent in try await store.sendMessage(message) { days[sent.deliveryID, default: 0] += 1 }
        }
        // Around midnight they belong to two days. The reconciliation has both, and the table only one.
        for (day, count) in days.sorted(by: { $0.key < $1.key }) {
            let delivery = DrillDelivery(id: day, policy: .resend, messages: count)
            site.state.withLock { $0.deliveries.append(delivery) }
            application.singles = delivery
        }
    }

    /// Waits for the outcomes of the single messages. A continuous delivery has no end to wait for.
    private func untilSinglesAreOver(_ applications: [OutageApplication], _ site: DrillSite) async throws {
        for singles in applications.compactMap(\.singles) {
            try await site.until("the outcomes of single messages", within: DrillSite.timeout) {
                try await site.progress(singles).pending == 0
            }
        }
    }

    /// Waits until each application's rate has recovered.
    private func recover(_ applications: inout [OutageApplication], _ site: DrillSite) async throws {
        guard site.options.hasTimes else { return }
        let back = ContinuousClock.now
        let deadline = back.advanced(by: Self.recoveryTimeout)
        while applications.contains(where: { $0.recovery == nil }), ContinuousClock.now < deadline {
            for index in applications.indices where applications[index].recovery == nil {
                let application = applications[index]
                applications[index].recovery = application.meter.secondsToRate(application.rate, after: back)
            }
            try await Task.sleep(for: Self.lookInterval)
        }
        let seconds = applications.compactMap(\.recovery)
        site.state.withLock { $0.recoveries += seconds }
    }

    private func judge(_ applications: [OutageApplication], _ site: DrillSite) async throws {
        let store = try site.store()
        var refused: [Int64: Set<Int32>] = [:]
        try await site.pushes { line, message in
            guard let message, !line.isAccepted else { return }
            refused[message.delivery, default: []].insert(message.sequence)
        }
        var table = Table(OutageApplication.columns)
        for application in applications {
            let delivery = application.delivery
            let progress = try await site.progress(delivery)
            var singles: DeliveryProgress?
            var (attempts, ambiguous) = (0, 0)
            for delivery in [delivery, application.singles].compactMap({ $0 }) {
                let refused = refused[delivery.id] ?? []
                attempts += try await application.wrongAttempts(delivery, store, refused: refused)
                ambiguous += try await store.ambiguousMessages(delivery: delivery.id).count
                if delivery == application.singles { singles = try await site.progress(delivery) }
            }
            let faults = application.faults(
                progress,
                singles: singles,
                wrongAttempts: attempts,
                hasTimes: site.options.hasTimes
            )
            for fault in faults { site.problem("\(application.name): \(fault)") }
            table.add(
                application.cells(
                    progress,
                    singles: singles,
                    ambiguous: ambiguous,
                    wrongAttempts: attempts,
                    isRight: faults.isEmpty
                )
            )
        }
        site.note("an outage of \(site.options.outageSeconds) s:\n" + table.text)
    }

    /// The gateways without duplicates.
    private func gateways(_ applications: [OutageApplication]) -> [OutageGateway] {
        var names: Set<String> = []
        return applications.map(\.gateway).filter { names.insert($0.row.name).inserted }
    }

    /// The number of requests that wait at all gateways.
    private func waiting(at applications: [OutageApplication]) async throws -> Int64 {
        var waiting: Int64 = 0
        for gateway in gateways(applications) { waiting += try await gateway.counts().waiting }
        return waiting
    }
}
