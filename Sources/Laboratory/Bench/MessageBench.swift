import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

/// Measures transactional messages from their call to the gateway, with everything on this machine.
struct MessageBench: Sendable {
    let site: TestSite
    let messages: Int
    /// The number of database sessions that share the messages; each call is its own transaction.
    let sessions: Int
    /// The number of messages per call; more than one are sent with `send_messages`.
    let batch: Int
    /// The mean pause of a session between calls.
    let pause: Duration
    /// The number of messages in a delivery that runs in parallel.
    let bulk: Int64
    /// The gateway's latency in the form of the simulator's option; nil: none.
    let latency: String?
    /// The maximum number of children.
    let children: Int

    /// Longer than anything takes in a working run.
    private static let timeout = Duration.seconds(60)
    /// The minimum number of subscribers, so that their messages differ.
    private static let fewest: Int64 = 1_000

    /// The messages that one call created.
    private struct Call {
        let messages: [MessageReference]
        let called: Date
        let answered: Date
    }

    private var recordFile: String { site.folder + "/record.jsonl" }

    /// Runs the bench and removes everything it created.
    func run() async throws -> MessageBenchReport {
        try await site.cleanly { try await measure() }
    }

    private func measure() async throws -> MessageBenchReport {
        tell("starting the database, the gateway simulator and a supervisor")
        try await site.prepare()
        let settings = try site.writeSettings(children: children)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let options = ["--record", recordFile] + (latency.map { ["--latency", $0] } ?? [])
        let simulator = try await site.gateways.start(site.programs, options)
        let gatewayFirst = site.gateways.comeFirst()
        try await site.startSupervisor()
        return try await StoreSession.run(settings, role: "bench") { store in
            let audience = TestAudience(store: store, settings: settings, simulator: simulator)
            let applications = try await audience.create([.ios])
            try await audience.seed(applications, count: max(Self.fewest, bulk))
            try await store.checkpoint()
            var report = try await send(store, applications, settings)
            report.gatewayFirst = gatewayFirst
            return report
        }
    }

    private func send(_ store: Store, _ applications: [String], _ settings: Settings) async throws -> MessageBenchReport
    {
        var continuous = NewDelivery(label: "Messages", applications: applications, content: TestAudience.content)
        continuous.isContinuous = true
        let id = try await store.createDelivery(continuous)
        try await store.startDelivery(id)
        try await wait { try await store.deliveryProgress(id).state == .inProgress }
        let people = try await store.subscriptions(application: applications[0], limit: Int(Self.fewest)).map(\.id)
        // The first message waits for the start of a child.
        guard let first = try await call(id, people, 1, store).first else {
            throw CommandFailure(.software, "send_message returned no message.")
        }
        try await wait { try await store.message(first.id)?.status == .sent }
        var other: Int64?
        if bulk > 0 {
            let made = try await store.createDelivery(
                NewDelivery(label: "Bulk", applications: applications, content: TestAudience.content)
            )
            try await store.startDelivery(made)
            try await wait { try await store.deliveryProgress(made).sent > 0 }
            other = made
        }
        let processes = BenchProcesses(site: site)
        let before = processes.cpuSeconds()
        let calls = try await callAll(id, people, settings)
        var left: Int64 = 0
        if let other { left = try await store.deliveryProgress(other).pending }
        try await waitForTheLast(id, store)
        return try await report(calls, bulkLeft: left, processes.cpuSeconds(since: before), store)
    }

    /// Makes all calls of all sessions.
    private func callAll(_ delivery: Int64, _ people: [Int64], _ settings: Settings) async throws -> [Call] {
        tell("sending \(messages) messages")
        return try await withThrowingTaskGroup(of: [Call].self) { group in
            for session in 0..<sessions {
                let share = messages / sessions + (session < messages % sessions ? 1 : 0)
                group.addTask {
                    try await StoreSession.run(settings, role: "sender") { store in
                        try await callOnesOwn(share, delivery, people, store)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func callOnesOwn(_ count: Int, _ delivery: Int64, _ people: [Int64], _ store: Store) async throws -> [Call]
    {
        var calls: [Call] = []
        var left = count
        while left > 0 {
            if pause > .zero { try await Task.sleep(for: pause * Double.random(in: 0...2)) }
            let called = Date()
            let made = try await call(delivery, people, min(batch, left), store)
            calls.append(Call(messages: made, called: called, answered: Date()))
            left -= made.count
            // The check reads system files, so it runs only once per 100 calls.
            if calls.count % 100 == 1 { try site.checkProcesses() }
        }
        return calls
    }

    private func call(
        _ delivery: Int64,
        _ people: [Int64],
        _ count: Int,
        _ store: Store
    ) async throws -> [MessageReference] {
        let messages = (0..<count).map { _ in
            NewMessage(
                deliveryID: delivery,
                address: .subscription(people.randomElement() ?? 0),
                variables: #"{"firstName":"Ada"}"#
            )
        }
        guard batch > 1 else { return try await store.sendMessage(messages[0]) }
        let made = try await store.sendMessages(messages, delivery: delivery).flatMap(\.references)
        guard made.count == count else {
            throw CommandFailure(.software, "\(made.count) of \(count) messages of a call were created.")
        }
        return made
    }

    private func report(
        _ calls: [Call],
        bulkLeft: Int64,
        _ cpu: [(name: String, seconds: Double)],
        _ store: Store
    ) async throws -> MessageBenchReport {
        let times = try await arrivals(calls, store)
        let arrived = calls.flatMap { call in call.messages.compactMap { one in times[one]?.first.map { (call, $0) } } }
        let first = calls.map(\.called).min() ?? .distantPast
        let last = calls.map(\.answered).max() ?? .distantPast
        return MessageBenchReport(
            messages: messages,
            sessions: sessions,
            batch: batch,
            bulk: bulk,
            bulkLeft: bulkLeft,
            arrivals: times.values.reduce(0) { $0 + $1.count },
            seconds: last.timeIntervalSince(first),
            cpu: cpu,
            afterLastCommit: (times.values.joined().max() ?? 0) - last.timeIntervalSince1970,
            calls: calls.map { $0.answered.timeIntervalSince($0.called) * 1_000 }.sorted(),
            fromCall: arrived.map { ($0.1 - $0.0.called.timeIntervalSince1970) * 1_000 }.sorted(),
            fromCommit: arrived.map { ($0.1 - $0.0.answered.timeIntervalSince1970) * 1_000 }.sorted()
        )
    }

    /// When each message arrived at the gateway, in seconds since 1970.
    private func arrivals(_ calls: [Call], _ store: Store) async throws -> [MessageReference: [Double]] {
        let sent = calls.flatMap(\.messages)
        var codecs: [MessageIDCodec] = []
        for day in Set(sent.map(\.deliveryID)) {
            codecs.append(try MessageIDCodec(deliveryID: day, trackingKey: try await store.trackingKey(delivery: day)))
        }
        let byPlace = Dictionary(
            sent.map { (Place(delivery: $0.deliveryID, sequence: $0.sequence), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var times: [MessageReference: [Double]] = [:]
        try GatewayRecord.read(recordFile) { line in
            guard let uuid = MessageUUID(line.id) else { return }
            for codec in codecs {
                guard let sequence = codec.sequence(of: uuid) else { continue }
                if let message = byPlace[Place(delivery: codec.deliveryID, sequence: sequence)] {
                    times[message, default: []].append(line.time)
                }
            }
        }
        return times
    }

    private struct Place: Hashable {
        let delivery: Int64
        let sequence: Int32
    }

    /// Waits until nothing is pending. It waits as long as the number of pending messages keeps falling.
    private func waitForTheLast(_ delivery: Int64, _ store: Store) async throws {
        var deadline = ContinuousClock.now + Self.timeout
        var left = Int64.max
        while left > 0 {
            try site.checkProcesses()
            let pending = try await store.days(ofDelivery: delivery).reduce(0) { $0 + $1.counts[.pending, default: 0] }
            if pending < left { deadline = ContinuousClock.now + Self.timeout }
            left = pending
            guard left > 0 else { return }
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(
                    .software,
                    "None of the remaining \(left) messages was sent for \(Self.timeout.components.seconds) s. The "
                        + "supervisor's log \(site.supervisor.logFile) ends with:\n\(site.supervisor.stderrTail)"
                )
            }
            // The query reads all of the day's parts, so it runs seldom.
            try await Task.sleep(for: .milliseconds(500))
        }
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
        StandardError.write("bench message: \(text)\n")
    }
}
