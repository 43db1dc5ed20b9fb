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

/// The JSON API below `/api/v1`, for the web process's router; see ``WebSetup/addRoutes``.
///
/// It has its own database connections, which the first request opens. Call ``close()`` after the web process has
/// ended.
package final class WebAPI: Sendable {
    /// The base path; a breaking change gets a new one.
    static let base = "/api/v1"

    private let settings: WebSettings
    private let database: APIDatabase
    private let keyDatabase: APIDatabase
    private let keyring: APIKeyring
    private let logger: Logger
    /// All paths and methods.
    let routes: [APIRoute]
    /// The OpenAPI document.
    let document: String

    /// The number of connections for requests; one more serves the keys.
    private static let connections = 3

    /// Makes the API without opening a connection.
    ///
    /// - Parameters:
    ///   - availability: whether the database is reachable, as seen by all connections of the process.
    ///   - readKeys: reads the keys that seal secrets of webhooks.
    package init(
        settings: WebSettings,
        database configuration: PostgresConfiguration,
        version: String,
        logger: Logger,
        availability: DatabaseAvailability? = nil,
        keyring readKeys: @escaping @Sendable () throws -> CredentialKeyring
    ) {
        let availability = availability ?? DatabaseAvailability(logger: logger)
        self.settings = settings
        self.logger = logger
        database = APIDatabase(configuration, connections: Self.connections, logger: logger, availability: availability)
        keyDatabase = APIDatabase(configuration, connections: 1, logger: logger, availability: availability)
        keyring = APIKeyring(database: keyDatabase)
        let groups: [[APIRoute]] = [
            ApplicationRoutes(database: database).routes, DeviceRoutes(database: database).routes,
            CategoryRoutes(database: database).routes,
            DeliveryRoutes(database: database).routes, AnalysisRoutes(database: database).routes,
            PlanRoutes(database: database).routes, CapRoutes(database: database).routes,
            AudienceRoutes(database: database).routes,
            ControlGroupRoutes(database: database).routes,
            BehaviourRoutes(database: database).routes,
            ApprovalRoutes(database: database).routes, RecurrenceRoutes(database: database).routes,
            TargetRoutes(database: database).routes,
            RecallRoutes(database: database).routes, OutcomeRoutes(database: database).routes,
            ComparisonRoutes(database: database).routes,
            MessageRoutes(database: database).routes, SeedRoutes(database: database).routes,
            ExclusionRoutes(database: database).routes, TemplateRoutes(database: database).routes,
            CheckRoutes(database: database).routes, ProofRoutes(database: database).routes,
            StatisticRoutes(database: database).routes, PreviewRoutes(database: database).routes,
            SignalRoutes(database: database).routes, ExperimentRoutes(database: database).routes,
            EventRoutes(database: database).routes, ConsumerRoutes(database: database).routes,
            WebhookRoutes(database: database, keyring: readKeys).routes,
        ]
        let described = Array(groups.joined())
        let documentRoute = OpenAPIDocument.route(handle: { _ in APIReply() })
        let document = OpenAPIDocument(routes: described + [documentRoute], version: version).json
        self.document = document.compactText
        routes = described + [OpenAPIDocument.route(handle: { _ in APIReply(.ok, document) })]
    }

    /// Adds its routes to a router.
    package func addRoutes<Routes: RouterMethods>(to router: Routes) where Routes.Context == WebContext {
        let trimmed = settings.pathPrefix.split(separator: "/").joined(separator: "/")
        // A proxy may strip the prefix or keep it.
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

    /// The number of keys verified by the database.
    var keyQuestions: Int { keyring.questions }

    /// Closes its connections.
    package func close() async {
        await database.close()
        await keyDatabase.close()
    }

    private func answer(_ route: APIRoute, _ request: Request, _ context: WebContext) async -> Response {
        context.route.set(Self.base + route.path)
        do {
            let call = try await call(route, request, context)
            let reply = try await AuditCaller.$current.withValue(caller(call, context)) {
                try await AuditCaller.$key.withValue(call.key?.name) { try await route.handle(call) }
            }
            return APIAnswer.response(reply)
        } catch let problem as APIProblem {
            return APIAnswer.response(problem, requestID: context.requestID)
        } catch {
            logger.failure("API request \(context.requestID) failed", of: error, level: .error)
            return APIAnswer.response(.failed, requestID: context.requestID)
        }
    }

    /// The key and the client's address, for the audit log.
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
        // From here on the key is known to allow the request.
        let maxBytes = max(settings.limits.maxBodyKb << 10, route.maxBodyBytes)
        let body = try await APIBody(maxBytes: maxBytes).read(request, route.body)
        var path: [String: String] = [:]
        for parameter in route.parameters where parameter.place == "path" {
            guard let text = context.parameters.get(parameter.name)?.removingPercentEncoding else {
                throw APIProblem.invalid("path:\(parameter.name)", "it is not valid percent-encoded UTF-8")
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

/// Answers requests below the API's path that match no route, in the API's format.
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
            // A body after a response to HEAD would be read as the next response.
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    /// The methods that a path accepts.
    private func methods(_ path: Substring) -> [String] {
        let words = path.split(separator: "/")
        let matching = routes.filter { route in
            let pattern = route.path.split(separator: "/")
            return pattern.count == words.count && zip(pattern, words).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        return Set(matching.map(\.method.rawValue)).sorted()
    }
}

/// Makes the responses of the API.
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
        // Responses are only for the client that made the request.
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
