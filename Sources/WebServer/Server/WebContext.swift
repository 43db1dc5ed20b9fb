import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushCore

/// The context of requests that go through Hummingbird's router: everything but registration and tracking.
public struct WebContext: RequestContext {
    /// Whom a context is made from.
    public struct Origin: RequestContextSource {
        /// The connection.
        public let channel: any Channel
        /// A logger with the request's id.
        public let logger: Logger
        /// The request's id.
        public let requestID: String
        /// Whom the request comes from; nil over a Unix socket.
        public let client: IPAddress?
    }

    /// Whom a context is made from.
    public typealias Source = Origin

    /// Hummingbird's part.
    public var coreContext: CoreRequestContextStorage
    /// The request's id, as in the log and in the answer.
    public let requestID: String
    /// Whom the request comes from, behind trusted proxies; nil over a Unix socket.
    public let client: IPAddress?
    /// The connection that it came over.
    let connection: any Channel

    /// Makes a context.
    public init(source: Origin) {
        coreContext = CoreRequestContextStorage(source: source)
        requestID = source.requestID
        client = source.client
        connection = source.channel
    }
}
