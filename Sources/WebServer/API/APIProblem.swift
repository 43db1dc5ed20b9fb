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
    /// What to do.
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
