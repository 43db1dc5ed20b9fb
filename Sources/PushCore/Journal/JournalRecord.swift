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
