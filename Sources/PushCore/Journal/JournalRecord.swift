/// A record of a child's journal: what it was about to send, and the answers it got.
///
/// A record belongs to a part under a fencing token. If the child dies, a message with an intent and no answer is
/// ambiguous; a message without an intent was never sent.
package enum JournalRecord: Sendable, Hashable {
    /// The messages that are about to be written to the gateway; journaled before their first byte is sent.
    case intent(part: Int64, token: Int64, ranges: [ClosedRange<Int32>])
    /// The answers of one read; journaled before their stream slots are reused.
    case answers(part: Int64, token: Int64, timeMilliseconds: Int64, [JournalAnswer])
    /// Everything journaled for the part under this token is committed to the database.
    case closed(part: Int64, token: Int64)
}
