import Foundation
import HTTPConnections
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import PostgresClient
import ProcessEvents
import PushCore
import Store

/// The product's own API, JSON below `/api/v1`, for the web process's router: see ``WebSetup/addRoutes``.
///
/// Its connections to the database are its own and are made when the first request needs them. Call ``close()`` when the web
/// process has ended.
public final class WebAPI: Sendable {
    /// Where it begins; a change that breaks clients makes another one.
    static let base = "/api/v1"

    private let settings: WebSettings
    private let database: APIDatabase
    private let keyDatabase: APIDatabase
    private let keyring: APIKeyring
    private let logger: Logger
    /// The paths and methods that there are.
    let routes: [APIRoute]
    /// The OpenAPI document.
    let document: String

    /// Connections for requests; one more serves the keys.
    private static let connections = 3

    /// Makes the API; nothing is opened.
    ///
    /// - Parameter availability: whether the database is there, as all connections of the process see it.
    public init(
        settings: WebSettings,
        database configuration: PostgresConfiguration,
        version: String,
        logger: Logger,
        availability: DatabaseAvailability? = nil
    ) {
        let availability = availability ?? DatabaseAvailability(logger: logger)
        self.settings = settings
        self.logger = logger
        database = APIDatabase(configuration, connections: Self.connections, logger: logger, availability: availability)
        keyDatabase = APIDatabase(configuration, connections: 1, logger: logger, availability: availability)
        keyring = APIKeyring(database: keyDatabase)
        let described =
            ApplicationRoutes(database: database).routes + DeviceRoutes(database: database).routes
            + DeliveryRoutes(database: database).routes + TargetRoutes(database: database).routes
            + OutcomeRoutes(database: database).routes + MessageRoutes(database: database).routes
            + SeedRoutes(database: database).routes + ExclusionRoutes(database: database).routes
            + TemplateRoutes(database: database).routes
            + CheckRoutes(database: database).routes + ProofRoutes(database: database).routes
            + StatisticRoutes(database: database).routes + PreviewRoutes(database: database).routes
        let documentRoute = OpenAPIDocument.route(handle: { _ in APIReply() })
        let document = OpenAPIDocument(routes: described + [documentRoute], version: version).json
        self.document = document.compactText
        routes = described + [OpenAPIDocument.route(handle: { _ in APIReply(.ok, document) })]
    }

    /// Adds its routes to a router.
    public func addRoutes<Routes: RouterMethods>(to router: Routes) where Routes.Context == WebContext {
        let trimmed = settings.pathPrefix.split(separator: "/").joined(separator: "/")
        // A proxy may take the prefix away or not.
        let bases = trimmed.isEmpty ? [Self.base] : [Self.base, "/" + trimmed + Self.base]
        _ = router.add(middleware: APIFrame(bases: bases, routes: routes))
        for base in bases {
            for route in routes {
                router.on(RouterPath(base + route.path), method: route.method) { [self] request, context in
                    await answer(route, request, context)
                }
            }
        }
    }

    /// Keys that the database was asked about.
    var keyQuestions: Int { keyring.questions }

    /// Closes its connections.
    public func close() async {
        await database.close()
        await keyDatabase.close()
    }

    private func answer(_ route: APIRoute, _ request: Request, _ context: WebContext) async -> Response {
        context.route.set(Self.base + route.path)
        do {
            let call = try await call(route, request, context)
            let reply = try await AuditCaller.$current.withValue(caller(call, context)) { try await route.handle(call) }
            return APIAnswer.response(reply)
        } catch let problem as APIProblem {
            return APIAnswer.response(problem, requestID: context.requestID)
        } catch {
            logger.failure("Request \(context.requestID) of the API failed", of: error, level: .error)
            return APIAnswer.response(.failed, requestID: context.requestID)
        }
    }

    /// The key and where it was used, as the audit log shows them.
    private func caller(_ call: APICall, _ context: WebContext) -> String? {
        call.key.map { key in "API key \(key.name)" + (context.limited.map { ", \($0)" } ?? "") }
    }

    private func call(_ route: APIRoute, _ request: Request, _ context: WebContext) async throws -> APICall {
        var key: VerifiedAPIKey?
        if let scope = route.scope {
            let verified = try await keyring.verify(request.headers[.authorization], from: context.limited)
            context.connection.pipeline.fireUserInboundEventTriggered(KeyAccepted())
            for needed in [scope, route.secondScope ?? scope] where !verified.scopes.contains(needed) {
                throw APIProblem.missingScope(needed)
            }
            key = verified
        }
        // Nobody gets here without a key that may do this.
        let mostBytes = max(settings.limits.maxBodyKb << 10, route.mostBodyBytes)
        let body = try await APIBody(mostBytes: mostBytes).read(request, route.body)
        var path: [String: String] = [:]
        for parameter in route.parameters where parameter.place == "path" {
            guard let text = context.parameters.get(parameter.name)?.removingPercentEncoding else {
                throw APIProblem.invalid("path:\(parameter.name)", "it is not UTF-8 with sound escapes")
            }
            path[parameter.name] = text
        }
        return APICall(
            path: path,
            query: try APIQuery(WebTarget(request.head).query),
            head: request.headers,
            body: body,
            key: key
        )
    }
}

/// Answers what no route takes, below the API's paths, in the API's form.
struct APIFrame: RouterMiddleware {
    typealias Context = WebContext

    let bases: [String]
    let routes: [APIRoute]

    func handle(
        _ request: Request,
        context: WebContext,
        next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            let path = WebTarget(request.head).path
            guard let base = bases.first(where: { path.hasPrefix($0 + "/") || path == $0 }) else { throw error }
            let allowed = methods(path.dropFirst(base.count))
            let response = APIAnswer.response(
                allowed.isEmpty ? .unknownPath : .wrongMethod(allowed),
                requestID: context.requestID
            )
            // A client reads what follows the head of an answer to HEAD as the next answer.
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    /// The methods that a path takes.
    private func methods(_ path: Substring) -> [String] {
        let words = path.split(separator: "/")
        let matching = routes.filter { route in
            let pattern = route.path.split(separator: "/")
            return pattern.count == words.count && zip(pattern, words).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        return Set(matching.map(\.method.rawValue)).sorted()
    }
}

/// Writes answers of the API.
enum APIAnswer {
    static func response(_ reply: APIReply) -> Response {
        response(reply.status, reply.body, type: "application/json", reply.headers)
    }

    static func response(_ problem: APIProblem, requestID: String) -> Response {
        response(
            problem.kind.status,
            problem.json(requestID: requestID),
            type: "application/problem+json",
            problem.headers
        )
    }

    private static func response(
        _ status: HTTPResponse.Status,
        _ body: JSONValue?,
        type: String,
        _ headers: HTTPFields
    ) -> Response {
        var headers = headers
        // Nothing of it is for anybody but who asked.
        headers[.cacheControl] = "no-store"
        guard let body else { return Response(status: status, headers: headers) }
        headers[.contentType] = type
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: body.compactText + "\n"))
        )
    }
}
