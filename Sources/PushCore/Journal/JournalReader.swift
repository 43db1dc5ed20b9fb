#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads the values of a journal from bytes. Every function returns nil instead of reading past the end.
struct JournalReader {
    let bytes: [UInt8]
    var range: Range<Int>

    var remaining: Int { range.count }

    /// Inlined, as it is read some ten times a message: a call each costs 1 % of a journal's instructions.
    @inline(__always)
    mutating func number<Number: FixedWidthInteger>() -> Number? {
        let size = MemoryLayout<Number>.size
        guard range.count >= size else { return nil }
        var value: UInt64 = 0
        for index in 0..<size { value |= UInt64(bytes[range.lowerBound + index]) << UInt64(index * 8) }
        range = range.lowerBound + size..<range.upperBound
        return Number(truncatingIfNeeded: value)
    }

    mutating func uuid() -> UUID? {
        guard range.count >= 16 else { return nil }
        let b = Array(bytes[range.lowerBound..<range.lowerBound + 16])
        range = range.lowerBound + 16..<range.upperBound
        return UUID(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
            )
        )
    }

    mutating func text() -> String? {
        guard let length: UInt16 = number(), range.count >= Int(length) else { return nil }
        let end = range.lowerBound + Int(length)
        let text = String(decoding: bytes[range.lowerBound..<end], as: UTF8.self)
        range = end..<range.upperBound
        return text
    }

    /// The bytes that a cut has removed; nil, with nothing read, if the record is not a cut.
    mutating func cut() -> Int64? {
        var reader = self
        guard let kind: UInt8 = reader.number(), kind == JournalFormat.cut, let _: Int64 = reader.number(),
            let bytes: Int64 = reader.number(), reader.remaining == 0
        else { return nil }
        self = reader
        return bytes
    }

    mutating func record() -> JournalRecord? {
        guard let kind: UInt8 = number(), let part: Int64 = number(), let token: Int64 = number() else { return nil }
        switch kind {
        case JournalFormat.intent:
            return ranges().map { .intent(part: part, token: token, ranges: $0) }
        case JournalFormat.answers:
            guard let time: Int64 = number(), let answers = answers() else { return nil }
            return .answers(part: part, token: token, timeMilliseconds: time, answers)
        case JournalFormat.closed:
            return .closed(part: part, token: token)
        default:
            return nil
        }
    }

    private mutating func ranges() -> [ClosedRange<Int32>]? {
        guard let count: UInt32 = number(), Int(count) * 8 == remaining else { return nil }
        var ranges: [ClosedRange<Int32>] = []
        for _ in 0..<count {
            guard let first: Int32 = number(), let last: Int32 = number(), first <= last else { return nil }
            ranges.append(first...last)
        }
        return ranges
    }

    private mutating func answers() -> [JournalAnswer]? {
        guard let count: UInt32 = number(), Int(count) <= remaining else { return nil }
        var answers: [JournalAnswer] = []
        for _ in 0..<count {
            guard let answer = answer() else { return nil }
            answers.append(answer)
        }
        return answers
    }

    private mutating func answer() -> JournalAnswer? {
        guard
            let sequence: Int32 = number(), let status: Int16 = number(), let attempt: Int16 = number(),
            let code: UInt8 = number(), let outcomeClass = JournalFormat.outcomeClass(code),
            let rawFlags: UInt8 = number()
        else { return nil }
        let flags = JournalFormat.AnswerFlags(rawValue: rawFlags)
        var answer = JournalAnswer(sequence: sequence, outcomeClass: outcomeClass, status: status, attempt: attempt)
        if flags.contains(.reason) {
            guard let reason = text() else { return nil }
            answer.reason = reason
        }
        if flags.contains(.gatewayMessageID) {
            guard let id = text() else { return nil }
            answer.gatewayMessageID = id
        }
        if flags.contains(.notBefore) {
            guard let time: Int64 = number() else { return nil }
            answer.notBeforeMilliseconds = time
        }
        if flags.contains(.tokenInvalidSince) {
            guard let since: Int64 = number() else { return nil }
            answer.tokenEffect = .invalid(sinceMilliseconds: TokenEffect.credibleTime(since))
        } else if flags.contains(.tokenInvalid) {
            answer.tokenEffect = .invalid(sinceMilliseconds: nil)
        }
        return flags.isDisjoint(with: .details) || readDetails(flags, into: &answer) ? answer : nil
    }

    /// Reads the fields that most answers do not have; false if the bytes end too early.
    private mutating func readDetails(_ flags: JournalFormat.AnswerFlags, into answer: inout JournalAnswer) -> Bool {
        if flags.contains(.failure) {
            guard let code: Int16 = number() else { return false }
            // An unknown code comes from a newer program; the rest of the answer is still valid.
            answer.failure = MessageFailure(code: code)
        }
        if flags.contains(.tokenReplaced) {
            guard let token = text() else { return false }
            answer.tokenEffect = .replaced(by: token)
        }
        if flags.contains(.tokenNotes) {
            guard let byte: UInt8 = number() else { return false }
            let notes = JournalFormat.TokenNotes(rawValue: byte)
            if notes.contains(.softError) { answer.tokenEffect = .softError }
            answer.healsErrors = notes.contains(.healsErrors)
        }
        return true
    }
}
