import Foundation
import PushCore

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
    /// - Throws: `DrillSetback` if a process is alive, or if a journal cannot be read.
    static func unanswered(of host: DrillHost) throws -> Set<Message> {
        guard host.supervisorID == nil, host.childIDs().isEmpty else {
            throw DrillSetback("host \(host.name) still has processes, which write its journals")
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
                throw DrillSetback("\(file) cannot be read: \(error)")
            }
        }
        return messages
    }

    /// The same of one journal's bytes.
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
