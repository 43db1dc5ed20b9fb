import HTTPTypes
import PushCore

/// Why a request is not done, in the one form that all errors of the API have: RFC 9457, problem details.
struct APIProblem: Error, Sendable {
    /// The kinds of problems; their names are part of the contract.
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
            case .malformedRequest: "The request cannot be read"
            case .invalidValue: "A value cannot be used"
            case .unauthenticated: "A valid key is needed"
            case .missingScope: "The key does not allow this"
            case .notFound: "There is no such thing"
            case .methodNotAllowed: "The path does not take this method"
            case .conflict: "The state of things forbids this"
            case .tooLarge: "The body is too large"
            case .tooManyRequests: "There are too many requests"
            case .unsupportedMediaType: "The body has another type than the API takes"
            case .internalError: "The server failed"
            case .unavailable: "The server cannot do it now"
            case .resultUnknown: "Nobody knows whether it was done"
            }
        }
    }

    /// One thing that is wrong with a request.
    struct Fault: Sendable, Hashable {
        /// Where: a JSON Pointer into the body, or `query:` and the name of a parameter.
        let path: String
        /// What is wrong with it.
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

    /// The body of the answer.
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
    /// `WWW-Authenticate` as RFC 6750 has it.
    private static let realm = #"Bearer realm="pushmta""#

    static var missingKey: APIProblem {
        var problem = APIProblem(
            .unauthenticated,
            "The request carries no key.",
            "Send the header Authorization: Bearer pushmta_…; pushmta key create makes a key."
        )
        problem.headers[.wwwAuthenticate] = realm
        return problem
    }

    static func refusedKey(_ cause: String) -> APIProblem {
        var problem = APIProblem(
            .unauthenticated,
            "The key is not accepted: \(cause).",
            "Use another key; pushmta key list shows which there are, pushmta key create makes one."
        )
        problem.headers[.wwwAuthenticate] = realm + #", error="invalid_token", error_description="\#(cause)""#
        return problem
    }

    static var tooManyRefusals: APIProblem {
        var problem = APIProblem(
            .tooManyRequests,
            "Too many requests came from this address with keys that are not accepted.",
            "Use another key; pushmta key list shows which there are."
        )
        problem.headers[.retryAfter] = "1"
        return problem
    }

    static func missingScope(_ scope: APIScope) -> APIProblem {
        var problem = APIProblem(
            .missingScope,
            "The key has not the scope \(scope.rawValue).",
            "Use a key that has it; pushmta key create makes one."
        )
        problem.headers[.wwwAuthenticate] = realm + #", error="insufficient_scope", scope="\#(scope.rawValue)""#
        return problem
    }

    /// What a key that is limited to applications may not do, to things that belong to none.
    static func limitedKey(_ what: String) -> APIProblem {
        var problem = APIProblem(
            .missingScope,
            "The key is limited to applications, and \(what) belong to none.",
            "Use a key for all applications; pushmta key create makes one."
        )
        problem.headers[.wwwAuthenticate] = realm + #", error="insufficient_scope""#
        return problem
    }

    /// - Parameter looked: sentences that say where it was looked for.
    static func notFound(_ what: String, looked: [String] = []) -> APIProblem {
        APIProblem(
            .notFound,
            (["There is no \(what), or none for this key."] + looked).joined(separator: " "),
            "Look at the id, and at the key's applications."
        )
    }

    static let unknownPath = APIProblem(
        .notFound,
        "There is nothing at this path.",
        "The paths are in /api/v1/openapi.json."
    )

    static func wrongMethod(_ allowed: [String]) -> APIProblem {
        var problem = APIProblem(
            .methodNotAllowed,
            "This path takes \(allowed.joined(separator: " and ")) only.",
            "The paths and their methods are in /api/v1/openapi.json."
        )
        problem.headers[.allow] = allowed.joined(separator: ", ")
        return problem
    }

    static func tooLarge(limit: Int) -> APIProblem {
        var problem = APIProblem(
            .tooLarge,
            "The body is larger than \(limit >> 10) KiB.",
            "Send less at once; where the document names no limit of the path's own, it is the setting web.limits.maxBodyKb."
        )
        // What is left of the body is not read.
        problem.headers[.connection] = "close"
        return problem
    }

    static let wrongContentType = APIProblem(
        .unsupportedMediaType,
        "The body is not application/json.",
        "Send JSON, and the header Content-Type: application/json."
    )

    static func malformed(_ cause: String) -> APIProblem {
        APIProblem(.malformedRequest, "The body is not JSON: \(cause).", "Send one JSON object in UTF-8.")
    }

    static let truncatedBody = APIProblem(
        .malformedRequest,
        "The body is shorter than its Content-Length.",
        "Send it whole."
    )

    static func invalid(_ faults: [Fault]) -> APIProblem {
        let first =
            faults.first.map { "\($0.path.isEmpty ? "body" : $0.path): \($0.problem)" } ?? "it is not said which"
        let more = faults.count > 1 ? " and \(faults.count - 1) more" : ""
        return APIProblem(
            .invalidValue,
            "\(first)\(more).",
            "Mend what errors lists; /api/v1/openapi.json says what is taken.",
            faults: faults
        )
    }

    static func invalid(_ path: String, _ problem: String) -> APIProblem {
        .invalid([Fault(path: path, problem: problem)])
    }

    static let refusedValue = APIProblem(
        .invalidValue,
        "The database refuses a value of this request.",
        "Look for numbers, dates and texts that are out of range."
    )

    static func unavailable(_ cause: String, retryAfter seconds: Int = 5) -> APIProblem {
        var problem = APIProblem(.unavailable, cause, "Nothing was done; try again later.")
        problem.headers[.retryAfter] = String(seconds)
        return problem
    }

    static let resultUnknown = APIProblem(
        .resultUnknown,
        "The database did not answer in time, or the connection to it was lost meanwhile.",
        "It may have been done: look before you repeat it."
    )

    static let failed = APIProblem(
        .internalError,
        "The request failed for a reason that is in the server's log.",
        "Ask the operator, with the request id."
    )
}
