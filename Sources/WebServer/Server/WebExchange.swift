import PushCore

/// What is known of a request beside itself.
struct WebExchange: Sendable {
    /// Names it in the log and in the answer.
    let id: String
    /// Whom it comes from; nil over a Unix socket.
    let client: IPAddress?
    /// When its head was there, by the monotonic clock.
    let startedNanoseconds: UInt64
    /// Whether it came through a trusted proxy.
    var isForwarded = false
}
