import HTTPTypes
import HummingbirdCore
import NIOCore
import PushCore

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
