import Foundation
import PushCore

/// A request to the API and its answer.
struct APIExchange: Sendable {
    let method: String
    let path: String
    let body: String?
    let answer: RawAnswer

    var status: Int { answer.status }
    var headers: [String: String] { answer.headers }

    /// The answer's JSON; null if the answer is not JSON.
    let json: JSONValue

    init(method: String, path: String, body: String?, answer: RawAnswer) {
        self.method = method
        self.path = path
        self.body = body
        self.answer = answer
        json = (try? JSONValue(parsing: Array(answer.body.utf8))) ?? .null
    }

    /// A value in the answer as written, by its path, such as `counts.target` or `errors.0.path`; texts without quotes.
    subscript(_ path: String) -> String? {
        guard let value = value(path) else { return nil }
        if case .string(let text) = value { return text }
        return value.compactText
    }

    /// The number of elements of a list in the answer, by its path.
    func count(_ path: String) -> Int? {
        guard case .array(let elements)? = value(path) else { return nil }
        return elements.count
    }

    private func value(_ path: String) -> JSONValue? {
        var value = json
        for word in path.split(separator: ".") {
            switch value {
            case .object(let entries):
                guard let entry = entries.first(where: { $0.name == word }) else { return nil }
                value = entry.value
            case .array(let elements):
                guard let place = Int(word), elements.indices.contains(place) else { return nil }
                value = elements[place]
            default: return nil
            }
        }
        return value
    }
}
