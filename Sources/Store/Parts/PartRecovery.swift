import PostgresClient
import PushCore

/// What is known of the messages that a lost owner of a part may have sent; kept until the part ends.
public struct PartRecovery: Sendable {
    /// A message that was answered softly: it takes part in the retry, not in another send.
    public struct SoftAnswer: Sendable, Hashable {
        public let sequence: Int32
        /// The attempt that got the answer; 0 if it was refused for the gateway's sake, which uses none.
        public let attempt: Int16
        /// Gateway status, 0 if none.
        public let httpStatus: Int16
        /// The gateway's words.
        public let reason: String
        /// Not to be sent again before; nil if the gateway did not say.
        public let notBefore: DatabaseTime?
        /// How long that was when the answer was put on record, in milliseconds on the database's clock, which may have been set back
        /// since; nil if it is not known. `releasePart` does not ask for it.
        public let longestDelayMilliseconds: Int64?

        /// Whether it was refused for the gateway's sake. The words are those of a credential for which it waits apart, if any.
        public var isRefusal: Bool { attempt == 0 }

        /// A soft answer of one message.
        public init(
            sequence: Int32,
            attempt: Int16,
            httpStatus: Int16,
            reason: String,
            notBefore: DatabaseTime?,
            longestDelayMilliseconds: Int64? = nil
        ) {
            self.sequence = sequence
            self.attempt = attempt
            self.httpStatus = httpStatus
            self.reason = reason
            self.notBefore = notBefore
            self.longestDelayMilliseconds = longestDelayMilliseconds
        }
    }

    /// The first so many messages in sequence order are ambiguous (journal lost with its host); 0 if the journal was read.
    public var ambiguousThrough: Int32
    /// Messages with an intent and no answer, or that may have left and have no outcome.
    public var ambiguous: [Int32]
    /// Those of ``ambiguous`` that another owner has had since, who is lost as well and may have sent them again. `releasePart` does
    /// not ask for it.
    public var heldSince: Set<Int32> = []
    /// Messages with a soft answer.
    public var softAnswers: [SoftAnswer]

    /// Before this moment none of it is sent, as the gateway has asked, in milliseconds since 1970 on the database's clock; 0 for nothing.
    /// It is not put on record, but makes the part wait.
    public var notBeforeMilliseconds: Int64

    /// What a journal, or its loss, says.
    public init(
        ambiguousThrough: Int32 = 0,
        ambiguous: [Int32] = [],
        softAnswers: [SoftAnswer] = [],
        notBeforeMilliseconds: Int64 = 0
    ) {
        self.notBeforeMilliseconds = notBeforeMilliseconds
        self.ambiguousThrough = ambiguousThrough
        self.ambiguous = ambiguous
        self.softAnswers = softAnswers
    }

    /// Whether there is nothing to remember.
    public var isEmpty: Bool { ambiguousThrough == 0 && ambiguous.isEmpty && softAnswers.isEmpty }
}

extension PartRecovery.SoftAnswer {
    /// Whether it counts and not the other one, which an earlier owner left of the same message.
    ///
    /// An owner that gives a part back repeats what it found. If the clock was set back in between, the first record has the true
    /// waiting time.
    func replaces(_ other: Self) -> Bool {
        guard attempt == other.attempt, notBefore == other.notBefore else { return attempt >= other.attempt }
        return (longestDelayMilliseconds ?? 0) <= (other.longestDelayMilliseconds ?? 0)
    }
}

extension Store {
    /// The messages that the part before handed over as ambiguous: a send of theirs may have arrived, and the part that is claimed here
    /// sends them again.
    ///
    /// They stand under the parent's last token, with which it was closed, as long as the parent is kept. Among them may be messages
    /// of other retry parts and such as have an outcome. To be read of every part with an attempt above 1.
    public func inheritedAmbiguous(_ part: ClaimedPart) async throws -> Set<Int32> {
        let result = try await query(Self.inheritedAmbiguousSQL, [.int64(part.id)])
        return try result.oneOrNil { Set(try $0.int32Array()) } ?? []
    }

    static let inheritedAmbiguousSQL = """
        SELECT r.ambiguous
        FROM pushmta_engine.delivery_part p
        JOIN pushmta_engine.delivery_part q ON q.id = p.parent_part_id
        JOIN pushmta_engine.delivery_part_recovery r ON r.part_id = q.id AND r.fencing_token = q.fencing_token
        WHERE p.id = $1
        """
}
