import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

extension DrillSite {
    /// So many messages may have become ambiguous if each fault so far took one child: a full connection's streams, for each
    /// connection that a child can have had at the fault, and for those that were just being opened. The streams that wait for their answer at the
    /// gateways are fewer: they may have answered what the child has not read, and not have read what it has written.
    ///
    /// - Parameters:
    ///   - streams: The streams that a connection may carry.
    ///   - opening: The connections that a child may have opened between the look at the gateways and the fault.
    func ambiguityBound(streams: Int64, opening: Int64) -> Int64 {
        faults.reduce(0) { $0 + (($1.connections ?? 0) + opening) * streams }
    }

    /// A problem if more messages are or were ambiguous: the engine itself says which are, and may not say it of more than can
    /// have been on the wire.
    func expectAmbiguous(atMost bound: Int64) async throws {
        var ambiguous: Int64 = 0
        for delivery in deliveries {
            ambiguous += Int64(try await store().ambiguousMessages(delivery: delivery.id).count)
        }
        note("\(ambiguous) messages are or were ambiguous, \(bound) may be")
        expect(
            ambiguous <= bound,
            "\(ambiguous) messages are or were ambiguous; \(bound) can have been on the wire at most"
        )
    }

    /// A problem if the children have not counted what the deliveries have: for drills in which no process dies, so that each
    /// tells with a heartbeat what it did.
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

    /// A problem for every delivery of which messages were ambiguous, or accepted more than once, though no journal of a dead
    /// host has an intent of them without its answer.
    ///
    /// - Parameter intents: What the journals said each time that processes died; nothing else may have made messages
    ///   ambiguous.
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
            for (what, messages) in [("accepted more than once", duplicates), ("held for ambiguous", held)] {
                let wrong = messages.subtracting(onWire)
                expect(
                    wrong.isEmpty,
                    "delivery \(delivery.id): \(wrong.count) messages were \(what), but no journal says that they were on the "
                        + "wire, such as number \(wrong.min() ?? 0)"
                )
            }
        }
        note("\(intents.count) messages were on the wire by the journals, \(ambiguous) are held for ambiguous")
    }
}

/// What the journals of a dead host say was on the wire: the source for ambiguity that is not the engine's own recovery.
enum JournalIntents {
    /// A message of a part.
    struct Message: Sendable, Hashable {
        let part: Int64
        let sequence: Int32
    }

    /// The messages of all journals of a host that were about to be sent, and whose answer is not in them. All its processes
    /// have to be dead, and none may have been started again: the next supervisor replays the journals and removes them.
    ///
    /// - Throws: `DrillFailure` if a process is alive, or if a journal cannot be read.
    static func unanswered(of host: DrillHost) throws -> Set<Message> {
        guard host.supervisorID == nil, host.childIDs().isEmpty else {
            throw DrillFailure("host \(host.name) still has processes, which write its journals")
        }
        return try unanswered(in: host.journals().map { host.journalFolder + "/" + $0 })
    }

    /// The same of these files.
    static func unanswered(in files: [String]) throws -> Set<Message> {
        var messages: Set<Message> = []
        for file in files {
            do {
                messages.formUnion(try unanswered([UInt8](Data(contentsOf: URL(fileURLWithPath: file)))))
            } catch let error as JournalError where error.code == .headerTooShort {
                // Its child died before it had written anything else.
                continue
            } catch {
                throw DrillFailure("\(file) cannot be read: \(error)")
            }
        }
        return messages
    }

    /// The messages that the journals of a host, all of whose processes are dead, say were accepted, with the token of the claim.
    ///
    /// - Throws: `DrillFailure` if a journal cannot be read.
    static func accepted(of host: DrillHost) throws -> [Message: Int64] {
        var found: [Message: Int64] = [:]
        for file in host.journals() {
            let path = host.journalFolder + "/" + file
            do {
                found.merge(try accepted([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))) { max($0, $1) }
            } catch let error as JournalError where error.code == .headerTooShort {
                continue
            } catch {
                throw DrillFailure("\(path) cannot be read: \(error)")
            }
        }
        return found
    }

    /// The same of one journal's bytes.
    static func accepted(_ journal: [UInt8]) throws -> [Message: Int64] {
        var decoder = try JournalDecoder(journal)
        var found: [Message: Int64] = [:]
        while let record = decoder.next() {
            switch record {
            case .intent: continue
            case .answers(let part, let token, _, let answers):
                for answer in answers where answer.outcomeClass == .accepted {
                    found[Message(part: part, sequence: answer.sequence)] = token
                }
            case .closed(let part, let token):
                found = found.filter { $0.key.part != part || $0.value != token }
            }
        }
        return found
    }

    /// The unanswered messages of one journal's bytes.
    static func unanswered(_ journal: [UInt8]) throws -> Set<Message> {
        var decoder = try JournalDecoder(journal)
        var messages: [Int64: Set<Int32>] = [:]
        // A request that ended without an answer is as ambiguous as one under way, also after its part's end.
        var unanswered: Set<Message> = []
        while let record = decoder.next() {
            switch record {
            case .intent(let part, _, let ranges):
                for range in ranges { messages[part, default: []].formUnion(range) }
            case .answers(let part, _, _, let answers):
                for answer in answers {
                    messages[part]?.remove(answer.sequence)
                    guard answer.outcomeClass == .ambiguous else { continue }
                    unanswered.insert(Message(part: part, sequence: answer.sequence))
                }
            case .closed(let part, _): messages[part] = nil
            }
        }
        if decoder.isDamaged { throw JournalError(code: .damaged(offset: decoder.validLength)) }
        return messages.reduce(into: unanswered) { all, part in
            all.formUnion(part.value.map { Message(part: part.key, sequence: $0) })
        }
    }
}
