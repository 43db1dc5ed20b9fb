/// What the ids in a payload are made of.
struct MessageIDSource: Sendable, Hashable {
    let deliveryID: Int64
    let format: MessageIDFormat
    let base: Int64
}
