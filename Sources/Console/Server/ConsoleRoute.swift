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
        /// Anybody: the sign-in page, and the files of the pages.
        case everybody
        /// Whoever has signed in with this role or a more powerful one.
        case role(ConsoleRole)
    }

    /// The query's name of what has just been added to a list, which is shown then, on whatever page of the list it stands.
    static let added = "added"

    let method: HTTPRequest.Method
    /// With names in braces, as Hummingbird's router has them.
    let path: String
    let access: Access
    /// The longest body that it takes.
    let mostBytes: Int
    /// The most fields of a form that it takes.
    let mostFields: Int
    let handle: @Sendable (ConsoleCall) async throws -> ConsoleReply

    /// Whether a page reads it by itself, which is no use of a session.
    var isLive: Bool { path.hasSuffix(ConsoleRoutes.livePath) }

    /// The longest of the usual forms has some 8,000 characters, each of which takes up to nine bytes on its way.
    static let usualBytes = 128 << 10
    /// A stranger sends a name and a password.
    static let bytesOfStrangers = 8 << 10

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ access: Access,
        mostBytes: Int? = nil,
        mostFields: Int = FormParameters.maximumCount,
        _ handle: @escaping @Sendable (ConsoleCall) async throws -> ConsoleReply
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.mostBytes = mostBytes ?? (access == .everybody ? Self.bytesOfStrangers : Self.usualBytes)
        self.mostFields = mostFields
        self.handle = handle
    }
}

/// A request to a route, with who asks.
struct ConsoleCall: Sendable {
    /// What stands in the path, by name.
    let parameters: [String: String]
    /// What stands behind the path.
    let query: FormParameters
    /// What a form has sent; empty for what is no POST.
    let form: FormParameters
    /// Who has signed in; nil for routes that are for everybody.
    let session: ConsoleSession?
    /// How the database knows the session.
    let actor: ConsoleActor
    let cookies: ConsoleCookies
    /// The path itself, for links back to it.
    let path: String
    /// Closes the connection, for a reader who takes nothing.
    let hangUp: @Sendable () -> Void

    /// A number in the path; a page that is not there if it is none.
    func number(_ name: String) throws(ConsoleProblem) -> Int64 {
        guard let number = parameters[name].flatMap({ Int64($0) }) else { throw .notFound }
        return number
    }

    /// The id of an application or of an external account in the path.
    func smallID() throws(ConsoleProblem) -> Int32 {
        guard let number = Int32(exactly: try number("id")) else { throw .notFound }
        return number
    }
}

enum ConsoleReply: Sendable {
    /// A page: its template, and the values that it shows.
    case page(ConsolePage)
    /// Another path, which is fetched with GET.
    case redirect(String, cookies: [String] = [])
    /// Bytes that may be kept for good, as their path changes with them.
    case file(text: String, type: String)
    /// A file to keep, written as it is made.
    case download(
        name: String,
        type: String,
        run: @Sendable (_ send: (String) async throws -> Void) async throws -> Void
    )
    /// A PNG image that people have uploaded; a browser may keep it for a day if its path changes with it.
    case image([UInt8], isKept: Bool)
    /// Events for as long as the page is open.
    case events(@Sendable (_ send: (LiveEvent) async throws -> Void) async throws -> Void)
}

/// A page before it is rendered.
struct ConsolePage: Sendable {
    /// The name of its template.
    var template: String
    /// Its title, which is its first heading, too.
    var title: String
    var values: PageValues
    var status: HTTPResponse.Status
    /// Cookies that come with it.
    var cookies: [String]

    init(
        _ template: String,
        title: String,
        _ values: PageValues = [:],
        status: HTTPResponse.Status = .ok,
        cookies: [String] = []
    ) {
        self.template = template
        self.title = title
        self.values = values
        self.status = status
        self.cookies = cookies
    }
}

/// Why there is no page, in words.
enum ConsoleProblem: Error, Hashable {
    /// There is no such page or thing.
    case notFound
    /// The role may not do it.
    case refusedRole
    /// The form was not made for this session.
    case refusedForm
    /// The request cannot be read.
    case malformed
    /// The form is longer than its page takes.
    case tooLong
    /// The database cannot be reached.
    case databaseAway
    /// The database has broken it off, as it took too long.
    case tooSlow
    /// Many others want the same just now.
    case busy
    /// The thing is in a state that forbids it; the words are the database's.
    case conflict(String)
    /// An error of the program.
    case failed

    var status: HTTPResponse.Status {
        switch self {
        case .notFound: .notFound
        case .refusedRole, .refusedForm: .forbidden
        case .malformed: .badRequest
        case .tooLong: .contentTooLarge
        case .databaseAway, .tooSlow, .busy: .serviceUnavailable
        case .conflict: .conflict
        case .failed: .internalServerError
        }
    }

    /// Title, what happened, and what to do.
    var words: (title: Phrase, text: Phrase) {
        switch self {
        case .notFound: (.notFoundTitle, .notFoundText)
        case .refusedRole: (.refusedRoleTitle, .refusedRoleText)
        case .refusedForm: (.refusedFormTitle, .refusedFormText)
        case .malformed: (.malformedTitle, .malformedText)
        case .tooLong: (.tooLongTitle, .tooLongText)
        case .databaseAway: (.databaseAwayTitle, .databaseAwayText)
        case .tooSlow: (.tooSlowTitle, .tooSlowText)
        case .busy: (.busyTitle, .busyText)
        case .conflict: (.conflictTitle, .conflictText)
        case .failed: (.failedTitle, .failedText)
        }
    }
}

/// A request on its way through the router.
struct ConsoleContext: RequestContext {
    typealias Source = ConsoleSource

    var coreContext: CoreRequestContextStorage
    /// The other end of the connection.
    let peer: IPAddress?
    /// Closes the connection.
    let hangUp: @Sendable () -> Void

    init(source: ConsoleSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.peer
        hangUp = source.hangUp
    }
}

/// Where a request came from.
struct ConsoleSource: RequestContextSource {
    let logger: Logger
    let peer: IPAddress?
    let hangUp: @Sendable () -> Void
}
