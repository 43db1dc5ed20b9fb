/// What the ids in a payload are made of.
struct MessageIDSource: Sendable, Hashable {
    let deliveryID: Int64
    let format: MessageIDFormat
    /// The numbers of messages where the format is `int32`; nil writes sequence numbers, for what is only looked at.
    let numbers: MessageNumbers?
}
