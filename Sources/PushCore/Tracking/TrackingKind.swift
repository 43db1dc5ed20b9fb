/// What a device tells of a message: the third part of a tracking id.
public enum TrackingKind: Int16, Sendable, Hashable, CaseIterable {
    /// It arrived (Adobe's tag 1, "receive" or impression).
    case received = 1
    /// It was clicked or opened (tag 2; the Android SDK sends it for a dismissal too).
    case clicked = 2
}
