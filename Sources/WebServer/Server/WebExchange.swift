import PushCore
import Synchronization

/// Metadata of a request.
struct WebExchange: Sendable {
    /// Its id in the log and in the response.
    let id: String
    /// The client's address; nil over a Unix socket.
    let client: IPAddress?
    /// The address whose limits it counts against; nil over a Unix socket and for a trusted proxy's own requests.
    let limited: IPAddress?
    /// When its head was read, by the monotonic clock.
    let startedNanoseconds: UInt64
    /// Whether it came through a trusted proxy.
    var isForwarded = false
}

/// Makes request ids: unique in a process, and unlikely to collide with another's.
final class RequestIDs: Sendable {
    private let prefix = String(UInt32.random(in: 0 ... .max), radix: 16) + "-"
    private let count = Atomic<UInt64>(0)

    func next() -> String {
        prefix + String(count.add(1, ordering: .relaxed).newValue, radix: 16)
    }

    /// The maximum length of a proxy's id that is accepted.
    private static let longest = 64

    /// Whether a trusted proxy's id is safe in a log and a header.
    static func isSound(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= longest
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
