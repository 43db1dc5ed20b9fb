import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PostgresClient
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Answers requests: checks session, role and form token, calls the route, and renders its reply.
final class ConsoleResponder: Sendable {
    let setup: ConsoleSetup
    let database: ConsoleDatabase
    let pages: PageRenderer
    let passwords: Passwords
    let feed: NowFeed
    let deliveries: DeliveryFeed
    let streams = LiveStreams()
    let ticks = LiveTicks()
    let sessions: LiveSessions
    let badge: MenuBadge<AlarmCount>
    /// Who made each delivery that somebody is asked to approve.
    let approvals: MenuBadge<[[String]]>
    private let proxies: Set<IPAddress>
    /// Peers that were already logged as proxies missing from console.trustedProxies.
    private let unnamed = Mutex<Set<IPAddress>>([])
    /// A client that sends the header itself is logged too; it must not fill the log.
    private static let maxUnnamed = 10

    init(setup: ConsoleSetup, database: ConsoleDatabase) throws {
        self.setup = setup
        self.database = database
        pages = try PageRenderer(version: setup.version)
        passwords = Passwords()
        feed = NowFeed(database: database, pages: pages)
        deliveries = DeliveryFeed(database: database, pages: pages, meanings: setup.meanings)
        sessions = LiveSessions(database: database, streams: streams)
        badge = MenuBadge(database: database) { try await $0.unseenAlarms() }
        approvals = MenuBadge(database: database) { store in
            try await store.deliveriesAwaitingApproval(limit: ApprovalsPage.maxRows)
                .filter(\.isRequested).map(\.makers)
        }
        proxies = setup.settings.console.proxies ?? []
    }

    func close() async {
        await passwords.close()
    }

    /// Connects Hummingbird's application to the routes.
    func router() -> ConsoleEntrance {
        let router = Router(context: ConsoleContext.self)
        for route in ConsoleRoutes(self).all {
            router.on(RouterPath(route.path), method: route.method) { [self] request, context in
                await answer(route, request, context)
            }
        }
        return ConsoleEntrance(routes: router.buildResponder(), responder: self)
    }

    /// Answers a request that could not be read.
    func answer(_ problem: ConsoleProblem, _ request: Request) -> Response {
        let cookies = ConsoleCookies(request.headers[values: .cookie], isSecure: false)
        return Language.$current.withValue(language(cookies, request)) {
            finished(pages.response(problem, frame: nil), request)
        }
    }

    /// Answers a request that no route takes; signed-in users keep the menu.
    func answerNothing(_ request: Request, _ context: ConsoleContext) async -> Response {
        let isSecure = origin(request, context).isSecure
        let cookies = ConsoleCookies(request.headers[values: .cookie], isSecure: isSecure)
        guard cookies.sessionToken != nil else { return answer(.notFound, request) }
        let route = ConsoleRoute(.get, request.uri.path, .role(.read)) { _ in throw ConsoleProblem.notFound }
        return await answer(route, request, context)
    }

    /// The language that the user has chosen, or else the one that the browser asks for.
    private func language(_ cookies: ConsoleCookies, _ request: Request) -> Language {
        cookies.language ?? Language(accepted: request.headers[.acceptLanguage])
    }

    private func answer(_ route: ConsoleRoute, _ request: Request, _ context: ConsoleContext) async -> Response {
        let origin = origin(request, context)
        let cookies = ConsoleCookies(request.headers[values: .cookie], isSecure: origin.isSecure)
        return await Language.$current.withValue(language(cookies, request)) {
            await answer(route, request, context, cookies, actor(cookies, origin.address))
        }
    }

    private func answer(
        _ route: ConsoleRoute,
        _ request: Request,
        _ context: ConsoleContext,
        _ cookies: ConsoleCookies,
        _ actor: ConsoleActor
    ) async -> Response {
        var frame: PageFrame?
        do {
            let session = try await session(route, actor)
            if case .role(let role) = route.access {
                guard let session else {
                    let hadSession = cookies.sessionToken != nil
                    return finished(signInFirst(route, request, hadSession: hadSession), request)
                }
                frame = PageFrame(
                    session: session,
                    path: request.uri.path,
                    back: request.uri.string,
                    isForm: route.method == .post
                )
                guard session.role >= role else { throw ConsoleProblem.refusedRole }
                if session.mustChoosePassword, !PasswordPage.isOpen(route) {
                    return finished(
                        Response(status: .seeOther, headers: [.location: PasswordPage.path]),
                        request
                    )
                }
            }
            let call = try await call(route, request, context, session, actor, cookies)
            let reply = try await route.handle(call)
            // Read after the page's own work, which may have acknowledged an alarm.
            if case .page = reply, let session, frame != nil {
                frame?.alarms = await badge.count()
                if session.role >= ApprovalsPage.role {
                    // Somebody else approves the user's own.
                    frame?.approvals = await approvals.count()?.count { !$0.contains("user \(session.user)") }
                }
            }
            return finished(try pages.response(reply, frame: frame), request)
        } catch {
            return finished(response(to: error, route, frame, request), request)
        }
    }

    private func response(
        to error: any Error,
        _ route: ConsoleRoute,
        _ frame: PageFrame?,
        _ request: Request
    ) -> Response {
        switch error {
        case let problem as ConsoleProblem: return pages.response(problem, frame: frame)
        case let error as StoreError where error.sqlState == "PM090":
            return signInFirst(route, request, hadSession: true)
        case let error as StoreError where error.sqlState == "PM091": return pages.response(.refusedRole, frame: frame)
        case let error as StoreError where error.code == .notFound: return pages.response(.notFound, frame: frame)
        case let error as StoreError where error.code == .conflict || error.code == .invalid:
            return pages.response(.conflict(error.message), frame: frame)
        default:
            setup.logger.failure("A console page failed: \(request.uri.path)", of: error, level: .error)
            return pages.response(.failed, frame: frame)
        }
    }

    // A script that reads the live part is not a user at work: it does not keep the session alive.
    private func session(_ route: ConsoleRoute, _ actor: ConsoleActor) async throws -> ConsoleSession? {
        guard route.access != .everybody, !actor.tokenHash.isEmpty else { return nil }
        let isUse = !route.isLive
        return try await database.run { try await $0.consoleSession(actor, isUse: isUse) }
    }

    private func call(
        _ route: ConsoleRoute,
        _ request: Request,
        _ context: ConsoleContext,
        _ session: ConsoleSession?,
        _ actor: ConsoleActor,
        _ cookies: ConsoleCookies
    ) async throws -> ConsoleCall {
        var query = FormParameters()
        var form = FormParameters(limit: route.maxFields)
        do {
            try query.read(Array((request.uri.query ?? "").utf8))
            if route.method == .post {
                let body = try await request.body.collect(upTo: route.maxBytes)
                try form.read(Array(body.readableBytesView))
            }
        } catch is NIOTooManyBytesError {
            throw ConsoleProblem.tooLong
        } catch {
            throw ConsoleProblem.malformed
        }
        if route.method == .post { try checkForm(request, form, session, cookies) }
        var parameters: [String: String] = [:]
        for (name, value) in context.parameters { parameters[String(name)] = String(value) }
        return ConsoleCall(
            parameters: parameters,
            query: query,
            form: form,
            session: session,
            actor: actor,
            cookies: cookies,
            path: request.uri.path,
            hangUp: context.hangUp
        )
    }

    /// A form is accepted only from a page of the same session, or, before there is a session, of the same browser.
    private func checkForm(
        _ request: Request,
        _ form: FormParameters,
        _ session: ConsoleSession?,
        _ cookies: ConsoleCookies
    ) throws(ConsoleProblem) {
        // Browsers say which site a form comes from; a form from another site needs no further check.
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.headers[name],
            site != "same-origin", site != "none"
        {
            throw .refusedForm
        }
        guard let expected = session?.formToken ?? cookies.formToken, !expected.isEmpty,
            ConstantTime.areEqual(Array(expected.utf8), Array((form[ConsoleForm.token] ?? "").utf8))
        else { throw .refusedForm }
    }

    private func signInFirst(_ route: ConsoleRoute, _ request: Request, hadSession: Bool) -> Response {
        if route.isLive { return Response(status: .unauthorized) }
        // After signing in, the user returns to the requested page. A form is not sent again, so that the user can
        // check it first: its address leads to its page.
        let next = SignIn.encoded(request.uri.string)
        // A browser without a session token has never had a session, so on a first visit none has expired.
        let over = hadSession ? "&over=1" : ""
        return Response(status: .seeOther, headers: [.location: "\(ConsoleRoutes.signInPath)?next=\(next)\(over)"])
    }

    private func actor(_ cookies: ConsoleCookies, _ address: String) -> ConsoleActor {
        ConsoleActor(
            tokenHash: cookies.sessionToken.map { Tokens.hash($0) } ?? [],
            idleSeconds: setup.settings.console.idleMinutes * 60,
            address: address,
            moment: setup.moment()
        )
    }

    /// The client's address, and whether the browser used HTTPS.
    private func origin(_ request: Request, _ context: ConsoleContext) -> (address: String, isSecure: Bool) {
        let isSecure = setup.settings.console.hasTLS
        guard let peer = context.peer else { return ("", isSecure) }
        let forwarded = HTTPField.Name("X-Forwarded-For").flatMap { request.headers[$0] } ?? ""
        guard proxies.contains(peer) else {
            if !forwarded.isEmpty { tell(ofUnnamed: peer) }
            return ("\(peer)", isSecure)
        }
        let client = forwarded.split(separator: ",").reversed()
            .map { IPAddress($0.filter { !$0.isWhitespace }) }
            .first { $0.map { !proxies.contains($0) } ?? true }
        let scheme = HTTPField.Name("X-Forwarded-Proto").flatMap { request.headers[$0] } ?? ""
        return ("\((client ?? nil) ?? peer)", isSecure || scheme == "https")
    }

    private func tell(ofUnnamed peer: IPAddress) {
        let isNew = unnamed.withLock { $0.count < Self.maxUnnamed && $0.insert(peer).inserted }
        guard isNew else { return }
        setup.logger.warning(
            "Requests from \(peer) carry X-Forwarded-For, but it is not in console.trustedProxies. Locks, connection limits and the audit log therefore use its address for all clients behind it. If it is your proxy, add it there."
        )
    }

    private func finished(_ response: Response, _ request: Request) -> Response {
        var response = response
        for (name, text) in Self.headers { response.headers[name] = text }
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        if setup.settings.console.hasTLS { response.headers[.strictTransportSecurity] = "max-age=31536000" }
        return response
    }

    /// Pages load only what the console itself serves, run no inline code, and cannot be framed by other sites.
    private static let headers: [(HTTPField.Name, String)] = {
        let texts = [
            "Content-Security-Policy":
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
                + "base-uri 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
        ]
        return texts.sorted { $0.key < $1.key }.compactMap { name, text in HTTPField.Name(name).map { ($0, text) } }
    }()
}

/// Handles requests from Hummingbird's connections; a request that no route takes is answered with a page, too.
struct ConsoleEntrance: HTTPResponder {
    struct Context: InitializableFromSource {
        let source: ConsoleSource

        init(source: ApplicationRequestContextSource) {
            let channel = source.channel
            self.source = ConsoleSource(
                logger: source.logger,
                peer: channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) },
                hangUp: { channel.close(promise: nil) }
            )
        }

        init(peer: IPAddress?, logger: Logger, hangUp: @escaping @Sendable () -> Void = {}) {
            source = ConsoleSource(logger: logger, peer: peer, hangUp: hangUp)
        }
    }

    let routes: RouterResponder<ConsoleContext>
    let responder: ConsoleResponder

    func respond(to request: Request, context: Context) async throws -> Response {
        do {
            let asked = ConsoleContext(source: context.source)
            let response = try await routes.respond(to: request, context: asked)
            // A response without our headers comes from the router itself: no route has handled the request.
            guard response.headers[.contentSecurityPolicy] == nil else { return response }
            return await responder.answerNothing(request, asked)
        } catch {
            return responder.answer(.malformed, request)
        }
    }
}
