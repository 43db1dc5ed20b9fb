import Foundation
import PushCore

/// Reads from a dead host's journals what was on the wire, independently of the engine's own recovery.
enum JournalIntents {
    /// A message's place in a part.
    struct Message: Sendable, Hashable {
        let part: Int64
        let sequence: Int32
    }

    /// The messages that have an intent but no answer in any of a host's journals. All its processes must be dead and
    /// not yet restarted: the next supervisor replays the journals and removes them.
    ///
    /// - Throws: `DrillFailure` if a process is alive, or if a journal cannot be read.
    static func unanswered(of host: DrillHost) throws -> Set<Message> {
        guard host.supervisorID == nil, host.childIDs().isEmpty else {
            throw DrillFailure("host \(host.name) still has running processes, which write its journals")
        }
        return try unanswered(in: host.journals().map { host.journalFolder + "/" + $0 })
    }

    /// The unanswered messages in these files.
    static func unanswered(in files: [String]) throws -> Set<Message> {
        var messages: Set<Message> = []
        for file in files {
            do {
                messages.formUnion(try unanswered([UInt8](Data(contentsOf: URL(fileURLWithPath: file)))))
            } catch let error as JournalError where error.code == .headerTooShort {
                // The child died before it had written anything else.
                continue
            } catch {
                throw DrillFailure("\(file) cannot be read: \(error)")
            }
        }
        return messages
    }

    /// The messages that a dead host's journals record as accepted, with the fencing token of the claim.
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

    /// The accepted messages in one journal's bytes.
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

    /// The unanswered messages in one journal's bytes.
    static func unanswered(_ journal: [UInt8]) throws -> Set<Message> {
        var decoder = try JournalDecoder(journal)
        var messages: [Int64: Set<Int32>] = [:]
        // A request that ended without an answer is as ambiguous as one under way, even after its part has ended.
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
