import HTTPTypes
import Hummingbird
import Logging
import PushCore
import Store
import Synchronization
import Testing

@testable import WebServer

/// The OpenAPI document describes exactly what the API has.
@Suite struct APIDocumentTests {
    /// A router that only records the added routes.
    private final class RecordingRouter: RouterMethods, Sendable {
        typealias Context = WebContext

        let added = Mutex<[String]>([])

        @discardableResult func on<Responder: HTTPResponder>(
            _ path: RouterPath,
            method: HTTPRequest.Method,
            responder: Responder
        ) -> Self where Responder.Context == WebContext {
            added.withLock { $0.append("\(method.rawValue.lowercased()) \(path)") }
            return self
        }

        func add(middleware: any MiddlewareProtocol<Request, Response, WebContext>) -> Self { self }
    }

    @Test func everyRouteOfTheRouterIsInTheDocumentAndTheOtherWayRound() async throws {
        let site = try await APISite.start()
        let router = RecordingRouter()
        site.web.api.addRoutes(to: router)
        let routes = router.added.withLock { $0 }
        let served = try await site.call("GET", "/openapi.json")
        #expect(served.status == 200 && served["openapi"] == "3.1.0" && served["servers.0.url"] == "/api/v1")
        var described: [String] = []
        if case .object(let entries) = served.json,
            case .object(let paths)? = entries.first(where: { $0.name == "paths" })?.value
        {
            for path in paths {
                guard case .object(let operations) = path.value else { continue }
                described += operations.map { "\($0.name) /api/v1\(path.name)" }
            }
        }
        #expect(routes.sorted() == described.sorted())
        #expect(Set(routes).count == routes.count && routes.count > 15)
        try await site.finish()
    }

    @Test func everyProblemAndScopeIsInTheDocument() async throws {
        let site = try await APISite.start()
        let document = try JSONValue(parsing: Array(site.web.api.document.utf8))
        for kind in APIProblem.Kind.allCases {
            #expect(document.compactText.contains("\"\(kind.rawValue)\""), "\(kind)")
        }
        for scope in APIScope.allCases {
            #expect(document.compactText.contains("[\"\(scope.rawValue)\"]"), "\(scope) is no operation's")
        }
        // An operation's name becomes the name of a function in generated clients.
        let names = site.web.api.routes.map(\.operation)
        #expect(Set(names).count == names.count)
        try await site.finish()
    }

    /// Tests the check of answers itself: it must find errors.
    @Test func theSchemaCheckFindsWhatDoesNotFit() async throws {
        let site = try await APISite.start()
        func problems(
            _ method: String,
            _ path: String,
            _ status: Int,
            _ body: String,
            _ type: String = "application/json"
        )
            async throws -> String
        {
            let answer = RawAnswer(status: status, headers: ["content-type": type], body: body)
            let exchange = APIExchange(method: method, path: path, body: nil, answer: answer)
            return try await SchemaCheck.problems([exchange], document: site.web.api.document)
        }
        #expect(try await problems("GET", "/applications", 200, #"{"applications":[]}"#) == "")
        #expect(try await problems("GET", "/applications", 200, #"{"applications":[],"more":1}"#).contains("more"))
        #expect(try await problems("GET", "/applications", 200, #"{"applications":[{}]}"#).contains("name"))
        #expect(try await problems("GET", "/applications", 418, "{}").contains("no such status"))
        #expect(try await problems("GET", "/nothing", 200, "{}").contains("no such operation"))
        #expect(try await problems("GET", "/applications", 200, "{}", "text/plain").contains("content type"))
        #expect(try await problems("GET", "/devices/7", 404, "{}", "application/problem+json").contains("code"))
        try await site.finish()
    }
}
