import PostgresClient
import PushCore

/// What is known about the messages that a lost owner of a part may have sent; kept until the part ends.
package struct PartRecovery: Sendable {
    /// A message with a soft answer: it takes part in the retry, not in another send.
    package struct SoftAnswer: Sendable, Hashable {
        package let sequence: Int32
        /// The attempt that got the answer; 0 if the gateway refused it for reasons of its own, which uses no attempt.
        package let attempt: Int16
        /// Gateway status, 0 if none.
        package let httpStatus: Int16
        /// The gateway's text.
        package let reason: String
        /// The earliest time for the next send; nil if the gateway did not say.
        package let notBefore: DatabaseTime?
        /// How long that was when the answer was recorded, in milliseconds on the database's clock, which may have been
        /// set back since; nil if unknown. `releasePart` does not need it.
        package let maxDelayMilliseconds: Int64?

        /// Whether the gateway refused it for reasons of its own. The reason is that of the credential for which it
        /// waits separately, if any.
        package var isRefusal: Bool { attempt == 0 }

        /// A soft answer of one message.
        package init(
            sequence: Int32,
            attempt: Int16,
            httpStatus: Int16,
            reason: String,
            notBefore: DatabaseTime?,
            maxDelayMilliseconds: Int64? = nil
        ) {
            self.sequence = sequence
            self.attempt = attempt
            self.httpStatus = httpStatus
            self.reason = reason
            self.notBefore = notBefore
            self.maxDelayMilliseconds = maxDelayMilliseconds
        }
    }

    /// This many messages, from the first in sequence order, are ambiguous (journal lost with its host); 0 if the
    /// journal was read.
    package var ambiguousThrough: Int32
    /// Messages with an intent and no answer, or that may have been sent and have no outcome.
    package var ambiguous: [Int32]
    /// Those of ``ambiguous`` that another owner has held since, who is also lost and may have sent them again.
    /// `releasePart` does not need it.
    package var heldSince: Set<Int32> = []
    /// Messages with a soft answer.
    package var softAnswers: [SoftAnswer]

    /// The gateway asked to send nothing of the part before this time, in milliseconds since 1970 on the database's
    /// clock; 0 for nothing. It is not recorded, but makes the part wait.
    package var notBeforeMilliseconds: Int64

    /// What a journal, or its loss, shows.
    package init(
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

    /// Whether there is nothing to record.
    package var isEmpty: Bool { ambiguousThrough == 0 && ambiguous.isEmpty && softAnswers.isEmpty }
}

extension PartRecovery.SoftAnswer {
    /// Whether it replaces the other answer, which an earlier owner left for the same message.
    ///
    /// An owner that returns a part repeats what it found. If the clock was set back in between, the first record has
    /// the true waiting time.
    func replaces(_ other: Self) -> Bool {
        guard attempt == other.attempt, notBefore == other.notBefore else { return attempt >= other.attempt }
        return (maxDelayMilliseconds ?? 0) <= (other.maxDelayMilliseconds ?? 0)
    }
}

extension Store {
    /// The messages that the parent part handed over as ambiguous: an earlier send may have arrived, and the claimed
    /// part sends them again.
    ///
    /// They are recorded under the parent's last token, with which it was closed, while the parent is kept. They may
    /// include messages of other retry parts, and messages that have an outcome. To be read for every part with an
    /// attempt above 1.
    package func inheritedAmbiguous(_ part: ClaimedPart) async throws -> Set<Int32> {
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
