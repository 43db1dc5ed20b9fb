#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The constants of the journal's format. All numbers are little-endian.
///
/// A header is `magic, version, 0, child id, generation, host id, checksum, boot id, installation id, checksum`. Each
/// checksum covers all bytes before it. A record is `length, checksum, payload`; both cover the payload, whose first
/// byte is its kind.
enum JournalFormat {
    /// "PMTJ".
    static let magic: UInt32 = 0x4A54_4D50
    /// Stands for an unknown id.
    static let unknownID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// The length of a frame in bytes: length and checksum before each payload.
    static let frameLength = 8
    /// The maximum length of a payload. 1,000 answers with the longest reasons of any gateway stay below it.
    static let maxPayloadLength = 16 << 20

    static let intent: UInt8 = 1
    static let answers: UInt8 = 2
    static let closed: UInt8 = 3
    /// It belongs to no part. The token field holds the number of bytes that cuts have removed.
    static let cut: UInt8 = 4

    /// The fields that follow an answer's fixed bytes.
    struct AnswerFlags: OptionSet {
        let rawValue: UInt8
        static let reason = AnswerFlags(rawValue: 1)
        static let gatewayMessageID = AnswerFlags(rawValue: 2)
        static let notBefore = AnswerFlags(rawValue: 4)
        static let tokenInvalid = AnswerFlags(rawValue: 8)
        static let tokenInvalidSince = AnswerFlags(rawValue: 16)
        static let failure = AnswerFlags(rawValue: 32)
        static let tokenReplaced = AnswerFlags(rawValue: 64)
        /// A byte of ``TokenNotes`` follows.
        static let tokenNotes = AnswerFlags(rawValue: 128)

        /// The fields that come last in an answer.
        static let details: AnswerFlags = [.failure, .tokenReplaced, .tokenNotes]
    }

    /// What else an answer says about its token.
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
        // Both mean to a replay that the gateway did not process the message, and older programs know code 5.
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
