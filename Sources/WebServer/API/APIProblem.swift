import HTTPTypes
import PushCore

/// Why a request failed, in the form of all API errors: problem details (RFC 9457).
struct APIProblem: Error, Sendable {
    /// The kinds of problems; their names are part of the API.
    enum Kind: String, Sendable, CaseIterable {
        case malformedRequest = "malformed_request"
        case invalidValue = "invalid_value"
        case unauthenticated
        case missingScope = "missing_scope"
        case notFound = "not_found"
        case methodNotAllowed = "method_not_allowed"
        case conflict
        case tooLarge = "too_large"
        case tooManyRequests = "too_many_requests"
        case unsupportedMediaType = "unsupported_media_type"
        case internalError = "internal_error"
        case unavailable
        case resultUnknown = "result_unknown"

        var status: HTTPResponse.Status {
            switch self {
            case .malformedRequest, .invalidValue: .badRequest
            case .unauthenticated: .unauthorized
            case .missingScope: .forbidden
            case .notFound: .notFound
            case .methodNotAllowed: .methodNotAllowed
            case .conflict: .conflict
            case .tooLarge: .contentTooLarge
            case .tooManyRequests: .tooManyRequests
            case .unsupportedMediaType: .unsupportedMediaType
            case .internalError: .internalServerError
            case .unavailable: .serviceUnavailable
            case .resultUnknown: .gatewayTimeout
            }
        }

        var title: String {
            switch self {
            case .malformedRequest: "The request is malformed"
            case .invalidValue: "A value is invalid"
            case .unauthenticated: "A valid key is required"
            case .missingScope: "The key does not allow this"
            case .notFound: "Not found"
            case .methodNotAllowed: "The path does not accept this method"
            case .conflict: "The current state does not allow this"
            case .tooLarge: "The body is too large"
            case .tooManyRequests: "Too many requests"
            case .unsupportedMediaType: "The API does not accept the body's type"
            case .internalError: "The server failed"
            case .unavailable: "The server cannot do this now"
            case .resultUnknown: "The result is unknown"
            }
        }
    }

    /// One fault of a request.
    struct Fault: Sendable, Hashable {
        /// The place: a JSON Pointer into the body, or `query:` and the name of a parameter.
        let path: String
        /// What is wrong there.
        let problem: String
    }

    var kind: Kind
    /// What happened, to which thing, and why.
    var detail: String
    var remedy: String
    var faults: [Fault] = []
    var headers = HTTPFields()

    init(_ kind: Kind, _ detail: String, _ remedy: String, faults: [Fault] = []) {
        self.kind = kind
        self.detail = detail
        self.remedy = remedy
        self.faults = faults
    }

    /// The body of the response.
    func json(requestID: String) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("type", .string("urn:pushmta:problem:\(kind.rawValue)")), ("title", .string(kind.title)),
            ("status", .number(String(kind.status.code))), ("code", .string(kind.rawValue)),
            ("detail", .string(detail)), ("remedy", .string(remedy)), ("requestId", .string(requestID)),
        ]
        if !faults.isEmpty {
            let list = faults.map { JSONValue.members(("path", .string($0.path)), ("problem", .string($0.problem))) }
            members.append(("errors", .array(list)))
        }
        return .object(members.map { JSONEntry(name: $0.0, value: $0.1) })
    }
}

extension APIProblem {
    /// The beginning of `WWW-Authenticate` (RFC 6750).
    private static let realm = #"Bearer realm="pushmta""#

    static var missingKey: APIProblem {
        var problem = APIProblem(
            .unauthenticated,
            "The request has no key.",
            "Send the header Authorization: Bearer pushmta_…; pushmta key create makes a key."
        )
        problem.headers[.wwwAuthenticate] = realm
        return problem
    }

    static func refusedKey(_ cause: String) -> APIProblem {
        var problem = APIProblem(
            .unauthenticated,
            "The key is not accepted: \(cause).",
            "Use another key; pushmta key list shows the keys, pushmta key create makes one."
        )
        problem.headers[.wwwAuthenticate] = realm + #", error="invalid_token", error_description="\#(cause)""#
        return problem
    }

    static var tooManyRefusals: APIProblem {
        var problem = APIProblem(
            .tooManyRequests,
            "This address has sent too many requests with keys that are not accepted.",
            "Use another key; pushmta key list shows the keys."
        )
        problem.headers[.retryAfter] = "1"
        return problem
    }

    static func missingScope(_ scope: APIScope) -> APIProblem {
        var problem = APIProblem(
            .missingScope,
            "The key does not have the scope \(scope.rawValue).",
            "Use a key that has it; pushmta key create makes one."
        )
        problem.headers[.wwwAuthenticate] = realm + #", error="insufficient_scope", scope="\#(scope.rawValue)""#
        return problem
    }

    /// A key that is limited to applications may not do this, because `what` belongs to none.
    static func limitedKey(_ what: String) -> APIProblem {
        var problem = APIProblem(
            .missingScope,
            "The key is limited to applications, and \(what) belong to none.",
            "Use a key for all applications; pushmta key create makes one."
        )
        problem.headers[.wwwAuthenticate] = realm + #", error="insufficient_scope""#
        return problem
    }

    /// - Parameter looked: sentences about where it was looked for.
    static func notFound(_ what: String, looked: [String] = []) -> APIProblem {
        APIProblem(
            .notFound,
            (["There is no \(what), or none for this key."] + looked).joined(separator: " "),
            "Check the id and the key's applications."
        )
    }

    static let unknownPath = APIProblem(
        .notFound,
        "There is nothing at this path.",
        "/api/v1/openapi.json lists the paths."
    )

    static func wrongMethod(_ allowed: [String]) -> APIProblem {
        var problem = APIProblem(
            .methodNotAllowed,
            "This path accepts only \(allowed.joined(separator: " and ")).",
            "/api/v1/openapi.json lists the paths and their methods."
        )
        problem.headers[.allow] = allowed.joined(separator: ", ")
        return problem
    }

    static func tooLarge(limit: Int) -> APIProblem {
        var problem = APIProblem(
            .tooLarge,
            "The body is larger than \(limit >> 10) KiB.",
            "Send less at once. Unless /api/v1/openapi.json gives a limit for the path, the setting web.limits.maxBodyKb is the limit."
        )
        // The rest of the body is not read.
        problem.headers[.connection] = "close"
        return problem
    }

    static let wrongContentType = APIProblem(
        .unsupportedMediaType,
        "The body is not application/json.",
        "Send JSON with the header Content-Type: application/json."
    )

    static func malformed(_ cause: String) -> APIProblem {
        APIProblem(.malformedRequest, "The body is not JSON: \(cause).", "Send one JSON object in UTF-8.")
    }

    static let truncatedBody = APIProblem(
        .malformedRequest,
        "The body is shorter than its Content-Length.",
        "Send the whole body."
    )

    static func invalid(_ faults: [Fault]) -> APIProblem {
        let first =
            faults.first.map { "\($0.path.isEmpty ? "body" : $0.path): \($0.problem)" } ?? "a value is invalid"
        let more = faults.count > 1 ? " and \(faults.count - 1) more" : ""
        return APIProblem(
            .invalidValue,
            "\(first)\(more).",
            "Correct what errors lists; /api/v1/openapi.json describes the accepted values.",
            faults: faults
        )
    }

    static func invalid(_ path: String, _ problem: String) -> APIProblem {
        .invalid([Fault(path: path, problem: problem)])
    }

    static let refusedValue = APIProblem(
        .invalidValue,
        "The database rejected a value in this request.",
        "Check for numbers, dates and texts that are out of range."
    )

    static func unavailable(_ cause: String, retryAfter seconds: Int = 5) -> APIProblem {
        var problem = APIProblem(.unavailable, cause, "Nothing was changed; try again later.")
        problem.headers[.retryAfter] = String(seconds)
        return problem
    }

    static let resultUnknown = APIProblem(
        .resultUnknown,
        "The database did not answer in time, or the connection to it was lost.",
        "The request may have taken effect: check before you repeat it."
    )

    static let failed = APIProblem(
        .internalError,
        "The request failed; the server's log has the reason.",
        "Give the operator the request id."
    )
}
