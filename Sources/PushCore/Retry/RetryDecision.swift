/// What to do with a message that was refused for now.
public enum RetryDecision: Sendable, Hashable {
    /// Try it again, not before this time in milliseconds since 1970.
    case again(notBeforeMilliseconds: Int64)
    /// Its next attempt would come after its validity: it ends as ``MessageStatus/ignored`` with reason `expired`.
    case expired
    /// It has had all its attempts: it ends as ``MessageStatus/failed``.
    case exhausted
}
