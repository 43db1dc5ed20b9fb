import CurlClient
import PushCore
import Store

/// The value of a health signal in the answer of its server.
struct SignalAnswer: Sendable {
    let response: CurlResponse

    /// The value, or why there is none. Reasons never repeat the answer.
    func reading(of signal: HealthSignal) -> SignalReading {
        switch response.status {
        case 200...299: break
        case 300...399: return .failure("its server answered \(response.status), and redirects are not followed")
        default: return .failure("its server answered \(response.status)")
        }
        switch signal.kind {
        case .prometheus: return prometheus()
        case .sql: return .failure("a function has no answer of a server")
        case .http where signal.selector.isEmpty:
            return Self.number(String(decoding: response.body, as: UTF8.self), "the answer")
        case .http where signal.selector.hasPrefix("header:"):
            let name = String(signal.selector.dropFirst("header:".count))
            guard let text = response.header(name) else { return .failure("the answer has no header \(name)") }
            return Self.number(text, "the header \(name)")
        case .http:
            guard let json = try? JSONValue(parsing: response.body) else { return .failure("the answer is not JSON") }
            guard let value = Self.value(at: signal.selector, in: json) else {
                return .failure("the answer has nothing at \(signal.selector)")
            }
            return Self.number(value, "the value at \(signal.selector)")
        }
    }

    /// Prometheus answers with a scalar, or with a list that must have exactly one series.
    private func prometheus() -> SignalReading {
        guard let json = try? JSONValue(parsing: response.body), let result = Self.value(at: "/data/result", in: json),
            case .array(let elements) = result
        else { return .failure("the answer is not that of a Prometheus server") }
        if Self.value(at: "/data/resultType", in: json) == .string("vector") {
            guard elements.count == 1 else {
                return .failure(
                    "the query gives \(elements.count) series, and must give one: sum() or max() make one of many"
                )
            }
            guard let value = Self.value(at: "/0/value/1", in: result) else {
                return .failure("the answer is not that of a Prometheus server")
            }
            return Self.number(value, "the result of the query")
        }
        guard elements.count == 2 else { return .failure("the query does not give a number") }
        return Self.number(elements[1], "the result of the query")
    }

    /// The value at a JSON pointer (RFC 6901).
    private static func value(at pointer: String, in json: JSONValue) -> JSONValue? {
        var place = json
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let key = part.replacing("~1", with: "/").replacing("~0", with: "~")
            switch place {
            case .object(let entries):
                guard let entry = entries.first(where: { $0.name == key }) else { return nil }
                place = entry.value
            case .array(let elements):
                guard let index = Int(key), elements.indices.contains(index) else { return nil }
                place = elements[index]
            case .null, .boolean, .number, .string: return nil
            }
        }
        return place
    }

    private static func number(_ value: JSONValue, _ what: String) -> SignalReading {
        switch value {
        case .number(let text), .string(let text): number(text, what)
        case .null, .boolean, .array, .object: .failure("\(what) is \(value.kindName), not a number")
        }
    }

    private static func number(_ text: String, _ what: String) -> SignalReading {
        let digits = text.split(whereSeparator: \.isWhitespace)
        guard digits.count == 1, let value = Double(digits[0]), value.isFinite else {
            return .failure("\(what) is not a number")
        }
        return .value(value)
    }
}
