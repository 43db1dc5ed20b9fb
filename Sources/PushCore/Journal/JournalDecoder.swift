#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads a journal record by record and stops at the first that is not whole.
///
/// A child writes records in order and sends nothing before its intent is written, so what a torn tail would have said
/// has not happened. No damaged byte makes a wrong record: it makes an earlier end.
public struct JournalDecoder: Sendable {
    public let header: JournalHeader
    /// Up to where the bytes read so far are whole.
    public private(set) var validLength: Int
    /// The bytes that cuts have taken out of what was read so far.
    private var cutBytes: Int64 = 0
    /// How much its child had written up to here, whether or not it is still there: it only grows.
    public var writtenLength: Int64 { cutBytes + Int64(validLength) }
    /// Whether bytes follow after ``validLength`` that are no whole record; known once ``next()`` has returned nil.
    public private(set) var isTorn = false
    /// Whether it ends at a record that is there in full length and wrong.
    ///
    /// A process that dies in a write leaves a record that is too short. Anything else is a damaged disk or a lost host,
    /// and then what follows may have said more.
    public private(set) var isDamaged = false
    private let bytes: [UInt8]

    /// Reads the header.
    public init(_ bytes: [UInt8]) throws(JournalError) {
        let base = JournalHeader.baseLength
        guard bytes.count >= base else { throw JournalError(code: .headerTooShort) }
        var reader = JournalReader(bytes: bytes, range: 0..<bytes.count)
        guard
            let magic: UInt32 = reader.number(), magic == JournalFormat.magic,
            let version: UInt16 = reader.number(), let _: UInt16 = reader.number(),
            let child: Int64 = reader.number(), let generation: Int64 = reader.number(),
            let host = reader.uuid(),
            let checksum: UInt32 = reader.number(), checksum == CRC32C.checksum(bytes, 0..<base - 4)
        else { throw JournalError(code: .notAJournal) }
        guard version == JournalHeader.version else { throw JournalError(code: .version(version)) }
        var header = JournalHeader(childID: child, generation: generation, hostID: host)
        try Self.readIDs(&reader, bytes, into: &header)
        validLength = JournalHeader.length
        self.header = header
        self.bytes = bytes
    }

    /// Reads what follows the bytes that every version begins with.
    private static func readIDs(
        _ reader: inout JournalReader,
        _ bytes: [UInt8],
        into header: inout JournalHeader
    ) throws(JournalError) {
        let end = JournalHeader.length
        guard bytes.count >= end else { throw JournalError(code: .headerTooShort) }
        guard
            let boot = reader.uuid(), let installation = reader.uuid(),
            let checksum: UInt32 = reader.number(), checksum == CRC32C.checksum(bytes, 0..<end - 4)
        else { throw JournalError(code: .notAJournal) }
        header.bootID = boot == JournalFormat.unknownID ? nil : boot
        header.installationID = installation == JournalFormat.unknownID ? nil : installation
    }

    /// The next record; nil at the end, and from there on.
    public mutating func next() -> JournalRecord? {
        guard !isTorn, validLength < bytes.count else { return nil }
        var frame = JournalReader(bytes: bytes, range: validLength..<bytes.count)
        guard
            let length: UInt32 = frame.number(), let checksum: UInt32 = frame.number(),
            length > JournalFormat.longestPayload || Int(length) <= frame.remaining
        else { return tear() }
        guard length <= JournalFormat.longestPayload else { return damage() }
        let start = validLength + JournalFormat.frameLength
        let payload = start..<start + Int(length)
        guard CRC32C.checksum(bytes, payload) == checksum else { return damage() }
        var reader = JournalReader(bytes: bytes, range: payload)
        if let cut = reader.cut() {
            cutBytes = cut
            validLength = payload.upperBound
            return next()
        }
        guard let record = reader.record(), reader.remaining == 0 else { return damage() }
        validLength = payload.upperBound
        return record
    }

    private mutating func damage() -> JournalRecord? {
        isDamaged = true
        return tear()
    }

    private mutating func tear() -> JournalRecord? {
        isTorn = true
        return nil
    }
}

/// Reads the values of a journal from bytes; every function returns nil rather than read past the end.
struct JournalReader {
    let bytes: [UInt8]
    var range: Range<Int>

    var remaining: Int { range.count }

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

    /// The bytes that a cut has taken out; nil, with nothing read, if it is another record.
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

    /// Reads what of an answer most have not; false at the end of the bytes.
    private mutating func readDetails(_ flags: JournalFormat.AnswerFlags, into answer: inout JournalAnswer) -> Bool {
        if flags.contains(.failure) {
            guard let code: Int16 = number() else { return false }
            // A code that is not known is one of a newer program, and the rest of the answer as true as ever.
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

/// Why a file is not a journal that can be read.
public struct JournalError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The file ends within its header, which a child writes before anything else.
        case headerTooShort
        /// The file does not begin like a journal, or its header is damaged.
        case notAJournal
        /// A record is there in full length and wrong; where it begins, in bytes.
        case damaged(offset: Int)
        /// The file was written by another version of the product; its version.
        case version(UInt16)
    }

    public let code: Code

    public init(code: Code) {
        self.code = code
    }

    /// What is wrong, and what follows from it.
    public var description: String {
        switch code {
        case .headerTooShort:
            "The journal ends within its header, so something was lost; its child's parts are taken over by their marks."
        case .notAJournal:
            """
            The file is not a journal, or its header is damaged; its child's parts are taken over by their marks. \
            Move the file out of the journal folder.
            """
        case .damaged(let offset):
            "The journal is damaged at byte \(offset), so its child's parts are taken over by their marks; check the disk."
        case .version(let version):
            version < JournalHeader.version
                ? "The journal has format version \(version) of a development version, which is not read: start over with pushmta-lab quickstart --fresh, or move the file away and its parts are taken over by their marks."
                : "The journal has format version \(version) and this program reads version \(JournalHeader.version): let the version that wrote it replay it, or move the file away and its parts are taken over by their marks."
        }
    }
}
