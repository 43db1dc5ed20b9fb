import CurlClient
import NIOCore

/// A request that libcurl has: it waits for its connection, or is on the wire.
struct LegacyTransfer {
    let request: LegacyRequest
    /// libcurl's name for it.
    var id: CurlTransferID?
    /// When it left; nil as long as it has not.
    var leftAt: NIODeadline?
    /// Gives it up when no answer comes.
    var deadline: Scheduled<Void>?

    var hasLeft: Bool { leftAt != nil }

    /// The time since it left, in microseconds; 0 if it has not.
    func latency(now: NIODeadline) -> UInt32 {
        leftAt.map { UInt32(clamping: (now - $0).nanoseconds / 1_000) } ?? 0
    }
}
