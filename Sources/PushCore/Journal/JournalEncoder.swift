#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes a journal's header and records. The bytes of several records can be written at once.
package enum JournalEncoder {
    package static func append(_ header: JournalHeader, to output: inout [UInt8]) {
        let start = output.count
        append(JournalFormat.magic, to: &output)
        append(JournalHeader.version, to: &output)
        append(UInt16(0), to: &output)
        append(header.childID, to: &output)
        append(header.generation, to: &output)
        append(header.hostID, to: &output)
        append(CRC32C.checksum(output, start..<output.count), to: &output)
        append(header.bootID ?? JournalFormat.unknownID, to: &output)
        append(header.installationID ?? JournalFormat.unknownID, to: &output)
        append(CRC32C.checksum(output, start..<output.count), to: &output)
    }

    package static func append(_ record: JournalRecord, to output: inout [UInt8]) {
        switch record {
        case .intent(let part, let token, let ranges):
            appendIntent(part: part, token: token, ranges: ranges, to: &output)
        case .answers(let part, let token, let time, let answers):
            appendAnswers(part: part, token: token, timeMilliseconds: time, answers, to: &output)
        case .closed(let part, let token):
            frame(JournalFormat.closed, part, token, &output) { _ in }
        }
    }

    /// Appends the number of bytes that cuts have removed from a journal so far. If there are several, the last one
    /// counts.
    package static func appendCut(bytes: Int64, to output: inout [UInt8]) {
        frame(JournalFormat.cut, 0, bytes, &output) { _ in }
    }

    package static func appendIntent(part: Int64, token: Int64, ranges: [ClosedRange<Int32>], to output: inout [UInt8])
    {
        frame(JournalFormat.intent, part, token, &output) { output in
            append(UInt32(truncatingIfNeeded: ranges.count), to: &output)
            for range in ranges {
                append(range.lowerBound, to: &output)
                append(range.upperBound, to: &output)
            }
        }
    }

    /// Appends the answers of one read.
    package static func appendAnswers(
        part: Int64,
        token: Int64,
        timeMilliseconds: Int64,
        _ answers: [JournalAnswer],
        to output: inout [UInt8]
    ) {
        var encoded = JournalAnswers(
            part: part,
            token: token,
            timeMilliseconds: timeMilliseconds,
            capacity: answers.count
        )
        for index in answers.indices { encoded.append(answers[index]) }
        output += encoded.record()
    }

    fileprivate static func append(_ answer: JournalAnswer, to output: inout [UInt8]) {
        let flags = flags(of: answer)
        output.append(addingCapacity: 10) { span in
            append(UInt32(bitPattern: answer.sequence), to: &span)
            append(UInt16(bitPattern: answer.status), to: &span)
            append(UInt16(bitPattern: answer.attempt), to: &span)
            span.append(JournalFormat.code(answer.outcomeClass))
            span.append(flags.rawValue)
        }
        if flags.isEmpty { return }
        if flags.contains(.reason) { append(answer.reason, to: &output) }
        if let id = answer.gatewayMessageID { append(id, to: &output) }
        if let time = answer.notBeforeMilliseconds { append(time, to: &output) }
        if case .invalid(let since?) = answer.tokenEffect { append(since, to: &output) }
        if flags.isDisjoint(with: .details) { return }
        if flags.contains(.failure), let failure = answer.failure { append(failure.code, to: &output) }
        if flags.contains(.tokenReplaced), case .replaced(let token) = answer.tokenEffect { append(token, to: &output) }
        if flags.contains(.tokenNotes) { output.append(notes(of: answer).rawValue) }
    }

    private static func flags(of answer: JournalAnswer) -> JournalFormat.AnswerFlags {
        var flags: JournalFormat.AnswerFlags = []
        if !answer.reason.isEmpty { flags.insert(.reason) }
        if answer.gatewayMessageID != nil { flags.insert(.gatewayMessageID) }
        if answer.notBeforeMilliseconds != nil { flags.insert(.notBefore) }
        switch answer.tokenEffect {
        case .none: break
        case .invalid(let since):
            flags.insert(.tokenInvalid)
            if since != nil { flags.insert(.tokenInvalidSince) }
        case .replaced: flags.insert(.tokenReplaced)
        case .softError: flags.insert(.tokenNotes)
        }
        if answer.failure != nil { flags.insert(.failure) }
        if answer.healsErrors { flags.insert(.tokenNotes) }
        return flags
    }

    private static func notes(of answer: JournalAnswer) -> JournalFormat.TokenNotes {
        var notes: JournalFormat.TokenNotes = []
        if answer.tokenEffect == .softError { notes.insert(.softError) }
        if answer.healsErrors { notes.insert(.healsErrors) }
        return notes
    }

    /// Appends a checksummed frame with kind, part, token and the bytes that the body appends.
    private static func frame(
        _ kind: UInt8,
        _ part: Int64,
        _ token: Int64,
        _ output: inout [UInt8],
        _ body: (inout [UInt8]) -> Void
    ) {
        let start = output.count
        begin(kind, part, token, &output)
        body(&output)
        end(from: start, &output)
    }

    /// Appends room for length and checksum, and the fields that every record begins with.
    fileprivate static func begin(_ kind: UInt8, _ part: Int64, _ token: Int64, _ output: inout [UInt8]) {
        append(UInt64(0), to: &output)
        output.append(kind)
        append(part, to: &output)
        append(token, to: &output)
    }

    /// Writes length and checksum of the frame that starts there and ends at the end of the buffer.
    fileprivate static func end(from start: Int, _ output: inout [UInt8]) {
        let payload = start + JournalFormat.frameLength..<output.count
        let checksum = CRC32C.checksum(output, payload)
        let frame = UInt64(checksum) << 32 | UInt64(payload.count)
        for index in 0..<JournalFormat.frameLength {
            output[start + index] = UInt8(truncatingIfNeeded: frame >> UInt64(index * 8))
        }
    }

    private static func append(_ text: String, to output: inout [UInt8]) {
        let count = min(text.utf8.count, Int(UInt16.max))
        append(UInt16(truncatingIfNeeded: count), to: &output)
        let end = output.count + count
        // Appending the whole view is one copy; appending a prefix would go byte by byte.
        output.append(contentsOf: text.utf8)
        if output.count > end { output.removeLast(output.count - end) }
    }

    private static func append(_ id: UUID, to output: inout [UInt8]) {
        let b = id.uuid
        output.append(contentsOf: [
            b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7, b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15,
        ])
    }

    @inline(__always)
    fileprivate static func append<Number: FixedWidthInteger>(_ number: Number, to output: inout [UInt8]) {
        output.append(addingCapacity: MemoryLayout<Number>.size) { span in append(number, to: &span) }
    }

    @inline(__always)
    private static func append<Number: FixedWidthInteger>(_ number: Number, to span: inout OutputSpan<UInt8>) {
        var rest = UInt64(truncatingIfNeeded: number)
        for _ in 0..<MemoryLayout<Number>.size {
            span.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}

/// The record of the answers of one read. Each answer is encoded as it is decided; collecting them in an array would
/// copy each one twice more.
package struct JournalAnswers: Sendable {
    /// The offset of the number of answers: after length, checksum, kind, part, token and time.
    private static let countPlace = JournalFormat.frameLength + 1 + 3 * MemoryLayout<Int64>.size

    /// The number of answers.
    package private(set) var count: UInt32 = 0
    private let capacity: Int
    private var output: [UInt8] = []

    /// Begins a record; `capacity` is a hint.
    package init(part: Int64, token: Int64, timeMilliseconds: Int64, capacity: Int) {
        self.capacity = capacity
        JournalEncoder.begin(JournalFormat.answers, part, token, &output)
        JournalEncoder.append(timeMilliseconds, to: &output)
        JournalEncoder.append(count, to: &output)
    }

    package mutating func append(_ answer: JournalAnswer) {
        let start = output.count
        JournalEncoder.append(answer, to: &output)
        // The answers of one read have mostly the same size.
        if count == 0 { output.reserveCapacity(start + capacity * (output.count - start)) }
        count += 1
    }

    /// Ends the record.
    /// - Returns: its bytes.
    package consuming func record() -> [UInt8] {
        for index in 0..<MemoryLayout<UInt32>.size {
            output[Self.countPlace + index] = UInt8(truncatingIfNeeded: count >> UInt32(index * 8))
        }
        JournalEncoder.end(from: 0, &output)
        return output
    }
}
