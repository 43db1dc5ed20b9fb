#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The constants of the journal's bytes. All numbers are little-endian.
///
/// A header is `magic, version, 0, child id, generation, host id, checksum`, from version 2 on followed by `boot id,
/// installation id, checksum`; each checksum is over all before it. A record is `length, checksum, payload`,
/// both over the payload, whose first byte is its kind.
enum JournalFormat {
    /// "PMTJ".
    static let magic: UInt32 = 0x4A54_4D50
    /// Stands for an id that is not known.
    static let unknownID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// Length and checksum before each payload.
    static let frameLength = 8
    /// A longer payload is no record: 1,000 answers with the longest reasons of any gateway stay below it.
    static let longestPayload = 16 << 20

    static let intent: UInt8 = 1
    static let answers: UInt8 = 2
    static let closed: UInt8 = 3

    /// What follows an answer's fixed bytes.
    struct AnswerFlags: OptionSet {
        let rawValue: UInt8
        static let reason = AnswerFlags(rawValue: 1)
        static let gatewayMessageID = AnswerFlags(rawValue: 2)
        static let notBefore = AnswerFlags(rawValue: 4)
        static let tokenInvalid = AnswerFlags(rawValue: 8)
        static let tokenInvalidSince = AnswerFlags(rawValue: 16)
        // Below: from version 3 on. An older reader would take what follows for the next answer.
        static let failure = AnswerFlags(rawValue: 32)
        static let tokenReplaced = AnswerFlags(rawValue: 64)
        /// A byte of ``TokenNotes`` follows.
        static let tokenNotes = AnswerFlags(rawValue: 128)

        static let all = AnswerFlags(rawValue: .max)
        static let sinceVersion3: AnswerFlags = [.failure, .tokenReplaced, .tokenNotes]
        static let beforeVersion3 = all.subtracting(sinceVersion3)
    }

    /// What else an answer says of its token.
    struct TokenNotes: OptionSet {
        let rawValue: UInt8
        static let softError = TokenNotes(rawValue: 1)
        static let healsErrors = TokenNotes(rawValue: 2)
    }

    /// The code of an outcome class; never renumber one.
    static func code(_ outcomeClass: OutcomeClass) -> UInt8 {
        switch outcomeClass {
        case .unprocessed: 1
        case .accepted: 2
        case .permanent: 3
        case .retry: 4
        // Both say to whoever replays it that the message was not looked at, and older programs know the one.
        case .stopApplication, .stopDelivery: 5
        case .ambiguous: 6
        }
    }

    /// The outcome class with a code, or nil.
    static func outcomeClass(_ code: UInt8) -> OutcomeClass? {
        switch code {
        case 1: .unprocessed
        case 2: .accepted
        case 3: .permanent
        case 4: .retry
        case 5: .stopApplication
        case 6: .ambiguous
        default: nil
        }
    }
}
