import Foundation
import TestSupport
import Testing

@testable import PushCore

@Suite struct JournalTests {
    private let header = JournalHeader(
        childID: 42,
        generation: 3,
        hostID: UUID(),
        bootID: UUID(),
        installationID: UUID()
    )

    private let records: [JournalRecord] = [
        .intent(part: 1, token: 2, ranges: [1...100, 205...205]),
        .answers(
            part: 1,
            token: 2,
            timeMilliseconds: 1_700_000_000_123,
            [
                JournalAnswer(sequence: 1, outcomeClass: .accepted, status: 200),
                JournalAnswer(
                    sequence: 2,
                    outcomeClass: .permanent,
                    status: 410,
                    reason: "Unregistered",
                    tokenEffect: .invalid(sinceMilliseconds: 1_600_000_000_000),
                    failure: MessageFailure(.hard, .userUnknown)
                ),
                JournalAnswer(
                    sequence: 3,
                    outcomeClass: .retry,
                    status: 503,
                    attempt: 2,
                    notBeforeMilliseconds: -5,
                    reason: "Grund é"
                ),
                JournalAnswer(sequence: .max, outcomeClass: .accepted, gatewayMessageID: "projects/p/messages/1"),
                JournalAnswer(
                    sequence: .min,
                    outcomeClass: .permanent,
                    status: -1,
                    tokenEffect: .invalid(sinceMilliseconds: nil)
                ),
                JournalAnswer(
                    sequence: 4,
                    outcomeClass: .accepted,
                    status: 200,
                    gatewayMessageID: "1:2",
                    tokenEffect: .replaced(by: "neu é"),
                    healsErrors: true
                ),
                JournalAnswer(
                    sequence: 5,
                    outcomeClass: .retry,
                    status: 429,
                    notBeforeMilliseconds: 7,
                    reason: "TooManyRequests",
                    tokenEffect: .softError,
                    failure: MessageFailure(.soft, .refused)
                ),
                JournalAnswer(sequence: 6, outcomeClass: .unprocessed),
                JournalAnswer(sequence: 7, outcomeClass: .ambiguous),
                JournalAnswer(sequence: 8, outcomeClass: .stopApplication, gatewayMessageID: ""),
            ]
        ),
        .intent(part: .max, token: .min, ranges: []),
        .answers(part: 1, token: 2, timeMilliseconds: 0, []),
        .closed(part: 1, token: 2),
    ]

    private func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        for record in records { JournalEncoder.append(record, to: &bytes) }
        return bytes
    }

    private func decoded(_ bytes: [UInt8]) throws -> (records: [JournalRecord], decoder: JournalDecoder) {
        var decoder = try JournalDecoder(bytes)
        var records: [JournalRecord] = []
        while let record = decoder.next() { records.append(record) }
        return (records, decoder)
    }

    @Test func recordsComeBack() throws {
        let bytes = encoded()
        let (records, decoder) = try decoded(bytes)
        #expect(decoder.header == header)
        #expect(records == self.records)
        #expect(!decoder.isTorn)
        #expect(decoder.validLength == bytes.count)
    }

    /// The check value of CRC-32C (RFC 3720 appendix B.4, and the catalogue of parametrised CRC algorithms).
    @Test func checksumIsCRC32C() {
        #expect(CRC32C.checksum(Array("123456789".utf8), 0..<9) == 0xE306_9283)
        #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32), 0..<32) == 0x8A91_36AA)
        #expect(CRC32C.checksum([UInt8](0..<32), 0..<32) == 0x46DD_794E)
    }

    @Test func everyTornTailEndsBeforeTheTornRecord() throws {
        let bytes = encoded()
        var ends: [Int] = [JournalHeader.length]
        var whole = try JournalDecoder(bytes)
        while whole.next() != nil { ends.append(whole.validLength) }
        for cut in 0..<bytes.count {
            let tail = Array(bytes[..<cut])
            guard cut >= JournalHeader.length else {
                #expect(throws: JournalError(code: .headerTooShort)) { try JournalDecoder(tail) }
                continue
            }
            let (records, decoder) = try decoded(tail)
            let wholeRecords = ends.count { $0 <= cut } - 1
            #expect(records == Array(self.records.prefix(wholeRecords)))
            #expect(decoder.validLength == ends[wholeRecords])
            #expect(decoder.isTorn == !ends.contains(cut))
        }
    }

    @Test func noFlippedBitMakesAWrongRecord() throws {
        let bytes = encoded()
        for index in bytes.indices {
            for bit in UInt8(0)..<8 {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                if index < JournalHeader.length {
                    #expect(throws: JournalError(code: .notAJournal)) { try JournalDecoder(damaged) }
                } else {
                    let (records, decoder) = try decoded(damaged)
                    #expect(records.count < self.records.count && records == Array(self.records.prefix(records.count)))
                    #expect(decoder.isTorn && decoder.validLength <= index)
                }
            }
        }
    }

    @Test func randomBytesAfterTheHeaderAreNoRecords() throws {
        var random = TestRandom(seed: TestRandom.seed(for: "journal"))
        var start: [UInt8] = []
        JournalEncoder.append(header, to: &start)
        for _ in 0..<2_000 {
            let garbage = (0..<1 + random.below(64)).map { _ in UInt8(truncatingIfNeeded: random.next() & random.next())
            }
            let (records, decoder) = try decoded(start + garbage)
            #expect(records.isEmpty && decoder.isTorn)
        }
    }

    /// The first bytes with another version; they have a checksum of their own.
    private func beginning(version: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        bytes.removeLast(bytes.count - JournalHeader.baseLength)
        bytes[4] = version
        let checked = JournalHeader.baseLength - 4
        let checksum = CRC32C.checksum(bytes, 0..<checked)
        for index in 0..<4 { bytes[checked + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(index * 8)) }
        return bytes
    }

    @Test(arguments: [UInt8(1), 2, 3, 5]) func otherVersionsAreRefused(version: UInt8) throws {
        for rest in [[], [UInt8](repeating: 7, count: 400)] {
            let error = JournalError(code: .version(UInt16(version)))
            #expect(throws: error) { try JournalDecoder(beginning(version: version) + rest) }
            // Those before were of development versions, with which nothing goes on.
            #expect(error.description.contains("quickstart --fresh") == (version < 4))
        }
    }

    @Test func idsThatAreNotKnownStayUnknown() throws {
        var bytes: [UInt8] = []
        let anonymous = JournalHeader(childID: 1, generation: 1, hostID: UUID(), installationID: UUID())
        JournalEncoder.append(anonymous, to: &bytes)
        #expect(bytes.count == JournalHeader.length)
        #expect(try JournalDecoder(bytes).header == anonymous)
    }

    @Test(arguments: [.min, -1, 253_402_300_800_000, 1_700_000_000_000_000_000, Int64.max])
    func absurdTimesOfATokenAreNotRead(_ since: Int64) throws {
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        var answer = JournalAnswer(
            sequence: 1,
            outcomeClass: .permanent,
            status: 410,
            tokenEffect: .invalid(sinceMilliseconds: since)
        )
        JournalEncoder.append(.answers(part: 1, token: 2, timeMilliseconds: 3, [answer]), to: &bytes)
        answer.tokenEffect = .invalid(sinceMilliseconds: nil)
        #expect(try decoded(bytes).records == [.answers(part: 1, token: 2, timeMilliseconds: 3, [answer])])
    }

    @Test func overlongReasonIsCut() throws {
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        let answer = JournalAnswer(sequence: 1, outcomeClass: .permanent, reason: String(repeating: "r", count: 70_000))
        JournalEncoder.appendAnswers(part: 1, token: 1, timeMilliseconds: 0, [answer], to: &bytes)
        guard case .answers(_, _, _, let answers) = try decoded(bytes).records.first else {
            Issue.record("no answers")
            return
        }
        #expect(answers.first?.reason.utf8.count == 65_535)
    }
}
