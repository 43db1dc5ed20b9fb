import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

extension DrillSite {
    /// The maximum number of messages that can be ambiguous if each fault so far hit one child. It is a full
    /// connection's streams for each connection that the child can have had at the fault, or was just opening.
    ///
    /// The streams that wait at the gateways are no such bound. A gateway may have answered requests whose answer the
    /// child has not read, and may not have read requests that the child has written.
    ///
    /// - Parameters:
    ///   - streams: The maximum number of streams per connection.
    ///   - opening: The connections that a child may have opened between the reading of the gateways' counters and the
    ///     fault.
    func ambiguityBound(streams: Int64, opening: Int64) -> Int64 {
        faults.reduce(0) { $0 + (($1.connections ?? 0) + opening) * streams }
    }

    /// Expects that no more than `bound` messages are or were ambiguous: the engine may not mark more messages than can
    /// have been on the wire.
    func expectAmbiguous(atMost bound: Int64) async throws {
        var ambiguous: Int64 = 0
        for delivery in deliveries {
            ambiguous += Int64(try await store().ambiguousMessages(delivery: delivery.id).count)
        }
        note("\(ambiguous) messages are or were ambiguous; the maximum is \(bound)")
        expect(
            ambiguous <= bound,
            "\(ambiguous) messages are or were ambiguous, but at most \(bound) can have been on the wire"
        )
    }

    /// Expects that the children's counters equal the deliveries'. It is for drills in which no process dies, so that
    /// every child reports its counters with a heartbeat.
    func expectCountersOfChildren() async throws {
        var differences: [String] = []
        do {
            try await until("the children's counters", within: .seconds(30), every: .milliseconds(500)) {
                let children = try await CounterCheck.children(store())
                guard children.hasAll else { throw DrillFailure("there were too many children to add up") }
                differences = CounterCheck.differences(
                    deliveries: try await CounterCheck.deliveries(store()),
                    children: children.counters
                )
                return differences.isEmpty
            }
        } catch is DrillFailure where !differences.isEmpty {
            for difference in differences { problem(difference) }
        }
    }

    /// Expects that messages were ambiguous, or accepted more than once, only if a dead host's journal has an intent
    /// without an answer for them.
    ///
    /// - Parameter intents: The unanswered intents from the journals, read each time that processes died. Nothing else
    ///   may have made messages ambiguous.
    func expectAmbiguousOnly(_ intents: Set<JournalIntents.Message>) async throws {
        var accepted: [Int64: [Int32: Int]] = [:]
        try await pushes { line, message in
            guard let message, line.isAccepted else { return }
            accepted[message.delivery, default: [:]][message.sequence, default: 0] += 1
        }
        let byPart = Dictionary(grouping: intents, by: \.part)
        var ambiguous = 0
        for delivery in deliveries {
            let parts = try await store().parts(ofDelivery: delivery.id)
            let onWire = Set(parts.flatMap { byPart[$0] ?? [] }.map(\.sequence))
            let duplicates = Set((accepted[delivery.id] ?? [:]).filter { $0.value > 1 }.keys)
            let held = try await store().ambiguousMessages(delivery: delivery.id)
            ambiguous += held.count
            for (what, messages) in [("accepted more than once", duplicates), ("marked ambiguous", held)] {
                let wrong = messages.subtracting(onWire)
                expect(
                    wrong.isEmpty,
                    "delivery \(delivery.id): \(wrong.count) messages were \(what), but no journal has them on the "
                        + "wire; "
                        + "the first is number \(wrong.min() ?? 0)"
                )
            }
        }
        note("\(intents.count) messages were on the wire according to the journals, \(ambiguous) are marked ambiguous")
    }
}
