/// A message whose fate is known.
struct BinarySettled<Message: Sendable>: Sendable {
    var message: Message
    var fate: BinaryFate
    /// The time from writing it to this, in nanoseconds.
    var age: UInt64
}
