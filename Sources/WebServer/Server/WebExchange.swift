import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushCore
import Synchronization

/// What is known of a request beside itself.
struct WebExchange: Sendable {
    /// Names it in the log and in the answer.
    let id: String
    /// Whom it comes from; nil over a Unix socket.
    let client: IPAddress?
    /// The address whose limits it counts against; nil over a Unix socket and for what a trusted proxy asks in its own name.
    let limited: IPAddress?
    /// When its head was there, by the monotonic clock.
    let startedNanoseconds: UInt64
    /// Whether it came through a trusted proxy.
    var isForwarded = false
}

/// What a request asks for: path and query, as sent.
struct WebTarget {
    let path: Substring
    let query: Substring

    /// Splits the target of a request.
    init(_ request: HTTPRequest) {
        let target = request.path ?? ""
        // The usual form; a proxy may send a whole URL.
        guard target.utf8.first == UInt8(ascii: "/") else {
            let uri = URI(target)
            path = uri.path[...]
            query = (uri.query ?? "")[...]
            return
        }
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            path = target[...]
            query = ""
            return
        }
        path = target[..<mark]
        query = target[target.utf8.index(after: mark)...]
    }
}

/// The context of requests that go through Hummingbird's router: everything but registration and tracking.
public struct WebContext: RequestContext {
    /// Whom a context is made from.
    public struct Origin: RequestContextSource {
        public let channel: any Channel
        /// A logger with the request's id.
        public let logger: Logger
        public let requestID: String
        /// The address whose limits the request counts against; nil if it has none.
        public let limited: IPAddress?
        /// Where the route that answers says which one it is.
        let route: RouteName
    }

    /// Whom a context is made from.
    public typealias Source = Origin

    /// Hummingbird's part.
    public var coreContext: CoreRequestContextStorage
    /// The request's id, as in the log and in the answer.
    public let requestID: String
    /// The address whose limits the request counts against; nil over a Unix socket and for a trusted proxy's own requests.
    public let limited: IPAddress?
    /// The connection that it came over.
    let connection: any Channel
    /// Where the route that answers says which one it is.
    let route: RouteName

    public init(source: Origin) {
        coreContext = CoreRequestContextStorage(source: source)
        requestID = source.requestID
        limited = source.limited
        connection = source.channel
        route = source.route
    }
}

/// Which route of the router answers a request, by the path that it is declared with: without what a client put into it.
final class RouteName: Sendable {
    private let text = Mutex<String?>(nil)

    /// The declared path, as in `/api/v1/devices/{id}`; nil as long as no route has said it.
    var path: String? { text.withLock { $0 } }

    func set(_ path: String) {
        text.withLock { $0 = path }
    }
}

/// Makes ids for requests: unique in a process, and unlikely to be those of another.
final class RequestIDs: Sendable {
    private let prefix = String(UInt32.random(in: 0 ... .max), radix: 16) + "-"
    private let count = Atomic<UInt64>(0)

    func next() -> String {
        prefix + String(count.add(1, ordering: .relaxed).newValue, radix: 16)
    }

    /// The longest id of a proxy's that is taken over.
    private static let longest = 64

    /// Whether an id that a trusted proxy gave can stand in a log and a header.
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
