import PushCore

/// A delivery of a drill.
struct DrillDelivery: Sendable, Equatable {
    /// Its id.
    let id: Int64
    /// What becomes of its ambiguous messages.
    let policy: AmbiguityPolicy
    /// How many messages its audience asks for.
    let messages: Int64
    /// How its messages may end beside being sent, and under policy `report` being unknown: nothing else is done to a drill's
    /// messages unless it says so.
    var allows: Set<MessageStatus> = []
}
