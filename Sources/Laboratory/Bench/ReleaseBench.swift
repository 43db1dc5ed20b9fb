import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

/// Measures how soon after its start the first message of an analysed delivery reaches the gateway.
struct ReleaseBench: Sendable {
    /// If nothing happens for this long, something is wrong. The analysis of 100,000,000 messages takes some minutes.
    private static let timeout = Duration.seconds(600)
    /// The minimum number of subscribers, so that there is one for each round.
    private static let fewest: Int64 = 1_000

    let site: TestSite
    let messages: Int64
    /// The number of starts with a child that is already connected, after one without.
    let rounds: Int

    private var recordFile: String { site.folder + "/record.jsonl" }

    /// Runs the bench and removes everything it created.
    func run() async throws -> ReleaseBenchReport {
        try await site.cleanly { try await measure() }
    }

    private func measure() async throws -> ReleaseBenchReport {
        tell("starting the database, the gateway simulator and a supervisor")
        try await site.prepare()
        let settings = try site.writeSettings(children: 1)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.startSimulator(["--record", recordFile])
        let gatewayFirst = site.gateways.comeFirst()
        try await site.startSupervisor()
        return try await StoreSession.run(settings, role: "bench") { store in
            let audience = TestAudience(store: store, settings: settings, simulator: simulator)
            let applications = try await audience.create([.ios])
            tell("registering \(messages) simulated devices")
            try await audience.seed(applications, count: max(Self.fewest, messages))
            try await store.checkpoint()
            var report = ReleaseBenchReport(messages: messages, gatewayFirst: gatewayFirst)
            report.starts.append(try await release(to: applications, store))
            let warm = try await continuous(to: applications, store)
            for _ in 0..<rounds {
                report.starts.append(try await release(to: applications, store) { try await send(one: warm, store) })
            }
            return report
        }
    }

    /// Analyses a delivery, starts it, and stops it after its first message.
    ///
    /// - Parameter warmUp: What is done just before the start.
    private func release(
        to applications: [String],
        _ store: Store,
        after warmUp: () async throws -> Void = {}
    ) async throws -> ReleaseBenchReport.Start {
        let id = try await store.createDelivery(
            NewDelivery(label: "Bench", applications: applications, content: TestAudience.content)
        )
        let began = ContinuousClock.now
        try await store.analyzeDelivery(id)
        try await wait { try await store.deliveryProgress(id).state != .analysing }
        let analysed = ContinuousClock.now - began
        let target = try await store.deliveryProgress(id).target
        try await warmUp()
        let recorded = try size(of: recordFile)
        let called = Date()
        try await store.startDelivery(id)
        let answered = Date()
        let codec = try MessageIDCodec(deliveryID: id, trackingKey: try await store.trackingKey(delivery: id))
        var arrived: Double?
        try await wait {
            arrived = try firstArrival(codec, from: recorded)
            return arrived != nil
        }
        do {
            try await store.stopDelivery(id)
        } catch let error as StoreError where error.code == .conflict {
            // It is over: it was small.
        }
        try await wait { try await store.deliveryProgress(id).finishedAt != nil }
        let first = arrived ?? .infinity
        let start = ReleaseBenchReport.Start(
            target: target,
            analysisSeconds: analysed / .seconds(1),
            callMilliseconds: answered.timeIntervalSince(called) * 1_000,
            firstMilliseconds: (first - called.timeIntervalSince1970) * 1_000
        )
        tell("the first of \(target) messages arrived \(Int(start.firstMilliseconds)) ms after the call")
        return start
    }

    /// When the first message of a delivery reached the gateway, in seconds since 1970; nil if none has.
    private func firstArrival(_ codec: MessageIDCodec, from offset: UInt64) throws -> Double? {
        var first: Double?
        try GatewayRecord.read(recordFile, from: offset) { line in
            guard first == nil, let uuid = MessageUUID(line.id), codec.sequence(of: uuid) != nil else { return }
            first = line.time
        }
        return first
    }

    private func size(of file: String) throws -> UInt64 {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        defer { try? handle.close() }
        return try handle.seekToEnd()
    }

    // MARK: A connected child

    /// A continuous delivery, whose messages keep a child connected.
    private func continuous(to applications: [String], _ store: Store) async throws -> ContinuousDelivery {
        var new = NewDelivery(label: "Messages", applications: applications, content: TestAudience.content)
        new.isContinuous = true
        let id = try await store.createDelivery(new)
        try await store.startDelivery(id)
        try await wait { try await store.deliveryProgress(id).state == .inProgress }
        let people = try await store.subscriptions(application: applications[0], limit: Int(Self.fewest)).map(\.id)
        return ContinuousDelivery(id: id, people: people)
    }

    /// Sends a message, and waits until it was sent.
    private func send(one delivery: ContinuousDelivery, _ store: Store) async throws {
        let message = NewMessage(
            deliveryID: delivery.id,
            address: .subscription(delivery.people.randomElement() ?? 0),
            variables: #"{"firstName":"Ada"}"#
        )
        guard let made = try await store.sendMessage(message).first else {
            throw CommandFailure(.software, "send_message returned no message.")
        }
        try await wait { try await store.message(made.id)?.status == .sent }
    }

    private struct ContinuousDelivery {
        let id: Int64
        let people: [Int64]
    }

    private func wait(_ isSo: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Self.timeout
        while try await !isSo() {
            try site.checkProcesses()
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(.software, "There has been no progress for \(Self.timeout.components.seconds) s.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func tell(_ text: String) {
        StandardError.write("bench release: \(text)\n")
    }
}
