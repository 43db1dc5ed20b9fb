import Foundation
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct JournalIntentsTests {
    private let header = JournalHeader(childID: 1, generation: 1, hostID: UUID())

    private func journal(_ records: [JournalRecord]) -> [UInt8] {
        var bytes: [UInt8] = []
        JournalEncoder.append(header, to: &bytes)
        for record in records { JournalEncoder.append(record, to: &bytes) }
        return bytes
    }

    private func answer(_ sequence: Int32, _ outcome: OutcomeClass = .accepted) -> JournalAnswer {
        JournalAnswer(sequence: sequence, outcomeClass: outcome)
    }

    private func sequences(_ messages: Set<JournalIntents.Message>) -> [Int32] { messages.map(\.sequence).sorted() }

    @Test func whatHasNoAnswerWasOnTheWire() throws {
        let bytes = journal([
            .intent(part: 3, token: 1, ranges: [1...4, 8...8]),
            .answers(part: 3, token: 1, timeMilliseconds: 0, [answer(1), answer(2, .unprocessed)]),
            .answers(part: 3, token: 1, timeMilliseconds: 0, [answer(8, .ambiguous)]),
        ])
        let messages = try JournalIntents.unanswered(bytes)
        #expect(sequences(messages) == [3, 4, 8])
        #expect(messages.allSatisfy { $0.part == 3 })
    }

    @Test func whatIsSentAgainIsOnTheWireAgainAndAClosedPartIsNot() throws {
        let bytes = journal([
            .intent(part: 3, token: 1, ranges: [1...1]),
            .answers(part: 3, token: 1, timeMilliseconds: 0, [answer(1, .unprocessed)]),
            .intent(part: 3, token: 1, ranges: [1...1]),
            .intent(part: 4, token: 1, ranges: [1...9]),
            .closed(part: 4, token: 1),
        ])
        #expect(try JournalIntents.unanswered(bytes) == [JournalIntents.Message(part: 3, sequence: 1)])
    }

    @Test func aTornTailIsNoErrorADamagedRecordIs() throws {
        var bytes = journal([.intent(part: 3, token: 1, ranges: [1...1])])
        let whole = bytes.count
        bytes += journal([.intent(part: 3, token: 1, ranges: [2...2])]).dropFirst(JournalHeader.length).dropLast(3)
        #expect(sequences(try JournalIntents.unanswered(bytes)) == [1])
        bytes[whole - 1] ^= 1
        #expect(throws: JournalError.self) { try JournalIntents.unanswered(bytes) }
    }

    @Test func whatWasAcceptedIsKnownWithItsClaimUntilThePartIsClosed() throws {
        let bytes = journal([
            .intent(part: 3, token: 1, ranges: [1...4]),
            .answers(part: 3, token: 1, timeMilliseconds: 0, [answer(1), answer(2, .permanent), answer(3)]),
            .answers(part: 4, token: 2, timeMilliseconds: 0, [answer(1)]),
            .closed(part: 4, token: 2),
            .answers(part: 4, token: 5, timeMilliseconds: 0, [answer(9)]),
        ])
        let accepted = try JournalIntents.accepted(bytes)
        #expect(
            accepted == [
                JournalIntents.Message(part: 3, sequence: 1): 1, JournalIntents.Message(part: 3, sequence: 3): 1,
                JournalIntents.Message(part: 4, sequence: 9): 5,
            ]
        )
    }
}
