import HTTPTypes
import PushCore

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

    static func notFound(_ what: String) -> APIProblem {
        APIProblem(
            .notFound,
            "There is no \(what), or none for this key.",
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
