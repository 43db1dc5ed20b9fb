/// The key under which the message ids of one day's deliveries are made.
public struct TrackingKey: Sendable, Hashable {
    /// The day of the deliveries, as days since 2000-01-01.
    public var logDay: Int32
    /// 16 bytes.
    public var key: [UInt8]

    /// A key.
    public init(logDay: Int32, key: [UInt8]) {
        self.logDay = logDay
        self.key = key
    }
}
