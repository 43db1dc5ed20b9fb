import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PushCore
import Store

/// One path of the console: who may call it, and what it does.
struct ConsoleRoute: Sendable {
    /// Who may call a route.
    enum Access: Sendable, Hashable {
        /// Everyone: the sign-in page, and the files of the pages.
        case everybody
        /// Users signed in with this role or a more powerful one.
        case role(ConsoleRole)
    }

    /// The query parameter with the name of a newly added list entry: the list then shows the page that holds it.
    static let added = "added"

    let method: HTTPRequest.Method
    /// The path, with parameters in braces, as in Hummingbird's router.
    let path: String
    let access: Access
    /// The maximum size of a request body, in bytes.
    let maxBytes: Int
    /// The maximum number of form fields.
    let maxFields: Int
    let handle: @Sendable (ConsoleCall) async throws -> ConsoleReply

    /// Whether a page's script reads it, which does not count as use of the session.
    var isLive: Bool { path.hasSuffix(ConsoleRoutes.livePath) }

    /// The longest of the usual forms has some 8,000 characters, each of which takes up to nine bytes when encoded.
    static let usualBytes = 128 << 10
    /// A user who is not signed in sends only a name and a password.
    static let bytesOfStrangers = 8 << 10

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ access: Access,
        maxBytes: Int? = nil,
        maxFields: Int = FormParameters.maxCount,
        _ handle: @escaping @Sendable (ConsoleCall) async throws -> ConsoleReply
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.maxBytes = maxBytes ?? (access == .everybody ? Self.bytesOfStrangers : Self.usualBytes)
        self.maxFields = maxFields
        self.handle = handle
    }
}

/// A request on its way through the router.
struct ConsoleContext: RequestContext {
    typealias Source = ConsoleSource

    var coreContext: CoreRequestContextStorage
    /// The address of the peer.
    let peer: IPAddress?
    /// Closes the connection.
    let hangUp: @Sendable () -> Void

    init(source: ConsoleSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.peer
        hangUp = source.hangUp
    }
}

/// The source of a request.
struct ConsoleSource: RequestContextSource {
    let logger: Logger
    let peer: IPAddress?
    let hangUp: @Sendable () -> Void
}
