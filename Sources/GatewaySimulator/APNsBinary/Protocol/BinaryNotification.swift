/// A notification as it came.
struct BinaryNotification: Sendable, Hashable {
    /// 0, 1 or 2.
    var command: UInt8
    /// The sender's number; nil when it gave none.
    var identifier: UInt32?
    /// The device token; nil when it is missing.
    var token: [UInt8]?
    /// The payload; nil when it is missing.
    var payload: [UInt8]?
    /// When the gateway gives up, in seconds since 1970.
    var expiration: UInt32?
    /// 10 or 5.
    var priority: UInt8?
}
