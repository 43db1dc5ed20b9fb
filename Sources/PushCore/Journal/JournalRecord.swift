#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A record of a child's journal: what it was about to send, and what it was answered.
///
/// Records belong to a part under a fencing token. A message with an intent and without an answer is ambiguous when the
/// child has died; one without an intent was never sent.
public enum JournalRecord: Sendable, Hashable {
    /// The messages that are about to be written to the gateway; journaled before their first byte leaves.
    case intent(part: Int64, token: Int64, ranges: [ClosedRange<Int32>])
    /// The answers of one read; journaled before their stream slots are used again.
    case answers(part: Int64, token: Int64, timeMilliseconds: Int64, [JournalAnswer])
    /// All that was journaled of the part under this token is committed to the database.
    case closed(part: Int64, token: Int64)
}

/// One message's answer, as it is journaled until the database has it.
public struct JournalAnswer: Sendable, Hashable {
    /// The message's sequence number in its delivery.
    public var sequence: Int32
    /// What the answer means for the message.
    public var outcomeClass: OutcomeClass
    /// The HTTP status, or the binary protocol's error code; 0 when there was none.
    public var status: Int16
    /// Which attempt this was, counted from 1.
    public var attempt: Int16
    /// When the message may be tried again, in milliseconds since 1970 of the database's clock; nil when it does not
    /// matter.
    public var notBeforeMilliseconds: Int64?
    /// The gateway's reason, word for word; empty when it gave none. What exceeds 65,535 bytes is cut off.
    public var reason: String
    /// The gateway's name for the accepted message; nil when there is none.
    public var gatewayMessageID: String?
    /// What the answer says about the push token.
    public var tokenEffect: TokenEffect
    /// What kind of failure it is; nil for what is none.
    public var failure: MessageFailure?
    /// Whether the message got through to a subscription that has soft errors.
    public var healsErrors: Bool

    /// Makes an answer; what is left out is absent.
    public init(
        sequence: Int32,
        outcomeClass: OutcomeClass,
        status: Int16 = 0,
        attempt: Int16 = 1,
        notBeforeMilliseconds: Int64? = nil,
        reason: String = "",
        gatewayMessageID: String? = nil,
        tokenEffect: TokenEffect = .none,
        failure: MessageFailure? = nil,
        healsErrors: Bool = false
    ) {
        self.sequence = sequence
        self.outcomeClass = outcomeClass
        self.status = status
        self.attempt = attempt
        self.notBeforeMilliseconds = notBeforeMilliseconds
        self.reason = reason
        self.gatewayMessageID = gatewayMessageID
        self.tokenEffect = tokenEffect
        self.failure = failure
        self.healsErrors = healsErrors
    }
}

/// The first bytes of a journal: whose it is.
public struct JournalHeader: Sendable, Hashable {
    /// The version of the format, the only one that is read. Versions before it were those of development versions.
    public static let version: UInt16 = 4
    /// The bytes that a header takes.
    public static let length = baseLength + 36
    /// What is appended to a journal's file name while a shorter one is written that is to take its place; left behind by who dies in it.
    public static let cutSuffix = ".cut"
    /// The bytes that every version begins with, so that each version can tell the others.
    static let baseLength = 44

    /// The child's row in `mta_child`.
    public var childID: Int64
    /// The generation of the child's slot, counted from 1.
    public var generation: Int64
    /// The host whose journal folder it is in.
    public var hostID: UUID
    /// The boot of the machine in which it was written; nil if that is not known.
    ///
    /// After another boot the tail of a journal may be lost, as it is not flushed to the disk for every record.
    public var bootID: UUID?
    /// The identity of the database that its parts are in; nil if that is not known.
    public var installationID: UUID?

    public init(
        childID: Int64,
        generation: Int64,
        hostID: UUID,
        bootID: UUID? = nil,
        installationID: UUID? = nil
    ) {
        self.childID = childID
        self.generation = generation
        self.hostID = hostID
        self.bootID = bootID
        self.installationID = installationID
    }
}

/// The constants of the journal's bytes. All numbers are little-endian.
///
/// A header is `magic, version, 0, child id, generation, host id, checksum, boot id, installation id, checksum`; each checksum is over all before it. A record is `length, checksum, payload`,
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
    /// It is of no part: in the token's place stand the bytes that cuts have taken out.
    static let cut: UInt8 = 4

    /// What follows an answer's fixed bytes.
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

        /// What follows the rest of an answer.
        static let details: AnswerFlags = [.failure, .tokenReplaced, .tokenNotes]
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
