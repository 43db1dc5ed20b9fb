/// What an event brought about.
public enum PartAction: Sendable, Hashable {
    /// A part was claimed under a new token.
    case claimed(part: Int, token: Int)
    /// Messages reached their devices.
    case delivered(MessageSet)
    /// Outcome rows came into being.
    case recorded(MessageSet, MessageStatus)
    /// Gateway answers of an owner that has lost its part were recorded all the same.
    case recordedLate(MessageSet)
    /// Outcomes were there already; the batch was repeated without them.
    case uniqueViolation(MessageSet)
    /// Messages may or may not have been delivered, and the policy was applied to them.
    case ambiguous(MessageSet)
    /// An owner found that it has lost its part.
    case fenced(owner: Int)
    /// A part went back to the queue.
    case released(part: Int)
    /// Messages went from a part to a new one.
    case handedOver(MessageSet, part: Int)
    /// A part ended.
    case closed(part: Int)
}
