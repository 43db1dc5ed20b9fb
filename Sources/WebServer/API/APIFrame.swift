import HTTPTypes
import Hummingbird
import HummingbirdCore
import PushCore

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
