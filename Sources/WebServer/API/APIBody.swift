import HTTPTypes
import HummingbirdCore
import NIOCore
import PushCore
import Store

/// Reads the JSON object in a request's body.
struct APIBody {
    let maxBytes: Int

    /// The object, or an empty one if the body may be omitted. Throws ``APIProblem``.
    func read(_ request: Request, _ wanted: APIRoute.Body) async throws -> JSONValue {
        var announced: Int?
        if let length = request.headers[.contentLength].flatMap({ Int($0) }) {
            guard length <= maxBytes else { throw APIProblem.tooLarge(limit: maxBytes) }
            announced = length
        }
        let bytes: ByteBuffer
        do {
            bytes = try await request.body.collect(upTo: maxBytes)
        } catch is NIOTooManyBytesError {
            throw APIProblem.tooLarge(limit: maxBytes)
        }
        guard announced == nil || announced == bytes.readableBytes else { throw APIProblem.truncatedBody }
        if bytes.readableBytes == 0 {
            if case .required = wanted { throw APIProblem.malformed("it is empty") }
            return .object([])
        }
        guard Self.isJSON(request.headers[.contentType]) else { throw APIProblem.wrongContentType }
        let value = try Self.parse(Array(bytes.readableBytesView))
        if wanted == .none {
            var reader = JSONReader(value)
            try reader.close()
        }
        return value
    }

    static func parse(_ bytes: [UInt8]) throws(APIProblem) -> JSONValue {
        // The parser would repair invalid UTF-8, so that the stored text would differ from the sent one.
        guard String(validating: bytes, as: UTF8.self) != nil else { throw .malformed("it is not UTF-8") }
        do {
            return try JSONValue(parsing: bytes, refusesHalfPairs: true)
        } catch {
            throw .malformed(error.description)
        }
    }

    private static func isJSON(_ type: String?) -> Bool {
        guard let word = type?.split(separator: ";").first else { return false }
        return word.split(separator: " ").joined().lowercased() == "application/json"
    }
}
