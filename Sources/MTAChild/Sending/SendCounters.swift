/// What a child has done since its start.
struct SendCounters: Sendable {
    /// Accepted by the gateway.
    var sent: Int64 = 0
    /// Refused for good.
    var failed: Int64 = 0
    /// Handed to retry parts.
    var retried: Int64 = 0
    /// Recorded as `unknown`.
    var unknown: Int64 = 0
    /// Answers that were stored although the part had another owner by then.
    var late: Int64 = 0
    /// Sent again, or handed to retry parts, although the gateway may have had them.
    var resentAfterAmbiguity: Int64 = 0
    /// Grows with everything that gets on; stands still when the child is stuck.
    var progress: UInt64 = 0
}
