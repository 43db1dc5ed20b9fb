/// What is known of the messages that a lost owner of a part may have sent; kept until the part ends.
public struct PartRecovery: Sendable {
    /// A message that was answered softly: it takes part in the retry, not in another send.
    public struct SoftAnswer: Sendable, Hashable {
        /// The message.
        public let sequence: Int32
        /// The attempt that got the answer.
        public let attempt: Int16
        /// Gateway status, 0 if none.
        public let httpStatus: Int16
        /// The gateway's words.
        public let reason: String
        /// Not to be sent again before; nil if the gateway did not say.
        public let notBefore: DatabaseTime?

        /// A soft answer of one message.
        public init(sequence: Int32, attempt: Int16, httpStatus: Int16, reason: String, notBefore: DatabaseTime?) {
            self.sequence = sequence
            self.attempt = attempt
            self.httpStatus = httpStatus
            self.reason = reason
            self.notBefore = notBefore
        }
    }

    /// The first so many messages in sequence order are ambiguous (journal lost with its host); 0 if the journal was read.
    public var ambiguousThrough: Int32
    /// Messages with an intent and no answer.
    public var ambiguous: [Int32]
    /// Messages with a soft answer.
    public var softAnswers: [SoftAnswer]

    /// What a journal, or its loss, says.
    public init(ambiguousThrough: Int32 = 0, ambiguous: [Int32] = [], softAnswers: [SoftAnswer] = []) {
        self.ambiguousThrough = ambiguousThrough
        self.ambiguous = ambiguous
        self.softAnswers = softAnswers
    }

    /// Whether there is nothing to remember.
    public var isEmpty: Bool { ambiguousThrough == 0 && ambiguous.isEmpty && softAnswers.isEmpty }
}
