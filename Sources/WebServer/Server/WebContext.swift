import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PushCore
import Synchronization

/// The context of requests that go through Hummingbird's router: all but registration and tracking.
package struct WebContext: RequestContext {
    /// The values that a context is made from.
    package struct Origin: RequestContextSource {
        package let channel: any Channel
        /// A logger with the request's id.
        package let logger: Logger
        package let requestID: String
        /// The address whose limits the request counts against; nil if it has none.
        package let limited: IPAddress?
        /// Set by the route that answers.
        let route: RouteName
    }

    /// The values that a context is made from.
    package typealias Source = Origin

    /// Hummingbird's part of the context.
    package var coreContext: CoreRequestContextStorage
    /// The request's id, as in the log and in the response.
    package let requestID: String
    /// The address whose limits the request counts against; nil over a Unix socket and for a trusted proxy's own
    /// requests.
    package let limited: IPAddress?
    /// The connection that it came over.
    let connection: any Channel
    /// Set by the route that answers.
    let route: RouteName

    package init(source: Origin) {
        coreContext = CoreRequestContextStorage(source: source)
        requestID = source.requestID
        limited = source.limited
        connection = source.channel
        route = source.route
    }
}

/// The route that answers a request, as its declared path, without the client's values.
final class RouteName: Sendable {
    private let text = Mutex<String?>(nil)

    /// The declared path, as in `/api/v1/devices/{id}`; nil until a route has set it.
    var path: String? { text.withLock { $0 } }

    func set(_ path: String) {
        text.withLock { $0 = path }
    }
}
