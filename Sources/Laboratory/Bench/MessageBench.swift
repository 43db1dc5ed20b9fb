import Administration
import Foundation
import PushCore
import Store

/// Measures single messages from send_message to the gateway, everything on this machine.
struct MessageBench: Sendable {
    /// Where everything runs.
    let site: TestSite
    /// The number of messages.
    let messages: Int
    /// The mean pause between two of them.
    let pause: Duration
    /// Messages of a delivery that runs meanwhile.
    let bulk: Int64
    /// The most children.
    let children: Int

    /// Longer than anything takes that is right.
    private static let timeout = Duration.seconds(60)
    /// Enough for everybody to have different messages.
    private static let fewest: Int64 = 1_000

    private struct Sent {
        let message: MessageReference
        let called: Date
        let answered: Date
    }

    private var recordFile: String { site.folder + "/record.jsonl" }

    /// Runs the bench and removes all that it made.
    func run() async throws -> MessageBenchReport {
        do {
            let report = try await measure()
            try await cleanUp()
            return report
        } catch {
            try? await cleanUp()
            throw error
        }
    }

    private func measure() async throws -> MessageBenchReport {
        tell("starting the database, the gateway simulator and a supervisor")
        try await site.prepare()
        let settings = try site.writeSettings(children: children)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.gateways.start(site.programs, ["--record", recordFile])
        try await site.startSupervisor()
        return try await StoreSession.run(settings, role: "bench") { store in
            let audience = TestAudience(store: store, settings: settings, simulator: simulator)
            let applications = try await audience.create([.ios])
            try await audience.seed(applications, count: max(Self.fewest, bulk))
            return try await send(store, applications)
        }
    }

    private func send(_ store: Store, _ applications: [String]) async throws -> MessageBenchReport {
        var continuous = NewDelivery(label: "Messages", applications: applications, content: TestAudience.content)
        continuous.isContinuous = true
        let id = try await store.createDelivery(continuous)
        try await store.startDelivery(id)
        try await wait { try await store.deliveryProgress(id).state == .inProgress }
        let people = try await store.subscriptions(application: applications[0], limit: Int(Self.fewest)).map(\.id)
        // The first one waits for the start of a child.
        let first = try await one(id, people, store)
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
        tell("sending \(messages) messages")
        var sent: [Sent] = []
        for _ in 0..<messages {
            try await Task.sleep(for: pause * Double.random(in: 0...2))
            let called = Date()
            let message = try await one(id, people, store)
            sent.append(Sent(message: message, called: called, answered: Date()))
            try site.checkProcesses()
        }
        var left: Int64 = 0
        if let other { left = try await store.deliveryProgress(other).pending }
        try await wait {
            try await store.days(ofDelivery: id).allSatisfy { $0.counts[.pending, default: 0] == 0 }
        }
        return try await report(sent, bulkLeft: left, store)
    }

    private func one(_ delivery: Int64, _ people: [Int64], _ store: Store) async throws -> MessageReference {
        let sent = try await store.sendMessage(
            NewMessage(
                deliveryID: delivery,
                address: .subscription(people.randomElement() ?? 0),
                variables: #"{"firstName":"Ada"}"#
            )
        )
        guard let message = sent.first else { throw CommandFailure(.software, "A message was sent to nobody.") }
        return message
    }

    private func report(_ sent: [Sent], bulkLeft: Int64, _ store: Store) async throws -> MessageBenchReport {
        var times: [MessageReference: [Double]] = [:]
        var codecs: [MessageIDCodec] = []
        for day in Set(sent.map(\.message.deliveryID)) {
            codecs.append(try MessageIDCodec(deliveryID: day, trackingKey: try await store.trackingKey(delivery: day)))
        }
        let byPlace = Dictionary(
            sent.map { ("\($0.message.deliveryID)-\($0.message.sequence)", $0.message) },
            uniquingKeysWith: { first, _ in first }
        )
        try GatewayRecord.read(recordFile) { line in
            guard let uuid = MessageUUID(line.id) else { return }
            for codec in codecs {
                guard let sequence = codec.sequence(of: uuid) else { continue }
                if let message = byPlace["\(codec.deliveryID)-\(sequence)"] {
                    times[message, default: []].append(line.time)
                }
            }
        }
        let arrived = sent.compactMap { one in times[one.message]?.first.map { (one, $0) } }
        return MessageBenchReport(
            messages: messages,
            bulk: bulk,
            bulkLeft: bulkLeft,
            arrivals: times.values.reduce(0) { $0 + $1.count },
            fromCall: arrived.map { ($0.1 - $0.0.called.timeIntervalSince1970) * 1_000 }.sorted(),
            fromCommit: arrived.map { ($0.1 - $0.0.answered.timeIntervalSince1970) * 1_000 }.sorted()
        )
    }

    private func wait(_ isSo: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Self.timeout
        while try await !isSo() {
            try site.checkProcesses()
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(.software, "Nothing has happened for \(Self.timeout.components.seconds) s.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Also when the task is cancelled: the detached one is not.
    private func cleanUp() async throws {
        let site = site
        try await Task.detached {
            try await site.stop()
            try site.remove()
        }.value
    }

    private func tell(_ text: String) {
        StandardError.write("bench message: \(text)\n")
    }
}

/// What a bench of single messages measured.
struct MessageBenchReport: Sendable {
    /// Messages that were sent.
    let messages: Int
    /// Messages of the delivery that ran meanwhile, and those of them that were still pending at the last message.
    let bulk: Int64
    let bulkLeft: Int64
    /// Pushes that the gateway had for them.
    let arrivals: Int
    /// Milliseconds from the call of send_message to the gateway, of those that arrived, in rising order.
    let fromCall: [Double]
    /// Milliseconds from its answer, which comes after the commit, to the gateway; below zero when the push was quicker than that.
    let fromCommit: [Double]

    /// Whether each arrived, once.
    var isComplete: Bool { fromCall.count == messages && arrivals == messages }

    /// The figures for programs.
    var cell: Cell {
        .object([
            ("messages", Cell(messages)), ("bulk", .integer(bulk)), ("bulkLeft", .integer(bulkLeft)),
            ("arrived", Cell(fromCall.count)), ("arrivals", Cell(arrivals)), ("complete", .flag(isComplete)),
            ("fromCallMs", Self.cell(fromCall)), ("fromCommitMs", Self.cell(fromCommit)),
        ])
    }

    /// The figures for people.
    var text: String {
        var table = Table(["ms", "p50", "p90", "p99", "max"])
        for (name, values) in [("from the call", fromCall), ("from the commit", fromCommit)] {
            table.add([.text(name)] + [50, 90, 99, 100].map { Cell.number(Self.percentile($0, values)) })
        }
        let meanwhile = bulk > 0 ? ", while a delivery of \(bulk) messages ran (\(bulkLeft) left at the end)" : ""
        return "\(fromCall.count) of \(messages) messages arrived\(meanwhile).\n" + table.text
    }

    private static func cell(_ values: [Double]) -> Cell {
        .object([50, 90, 99, 100].map { ($0 == 100 ? "max" : "p\($0)", .number(percentile($0, values))) })
    }

    private static func percentile(_ percent: Int, _ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        // The smallest value that so many in a hundred do not exceed.
        return values[max(0, (values.count * percent + 99) / 100 - 1)]
    }
}
