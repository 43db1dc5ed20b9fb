@testable import Content
@testable import PushCore

/// Computes the sizes of payloads, as gateways count them, from the parsed payload.
enum PayloadSizes {
    static func counted(_ value: JSONValue, _ body: [UInt8], _ format: PayloadFormat) -> Int {
        switch format {
        case .apns, .apnsBinary: return body.count
        case .fcmLegacy: return size(value["data"]) + size(value["notification"])
        case .fcmV1:
            let message = value["message"] ?? .null
            return size(message["data"]) + size(message["notification"]) + size(message["android"]?["notification"])
        }
    }

    /// The size of all names and values, including those inside lists and objects.
    private static func size(_ value: JSONValue?) -> Int {
        switch value {
        case nil: 0
        case .some(.null): "null".utf8.count
        case .some(.array(let elements)): elements.reduce(0) { $0 + size($1) }
        case .some(.object(let entries)): entries.reduce(0) { $0 + $1.name.utf8.count + size($1.value) }
        case .some(let scalar): scalar.text.utf8.count
        }
    }

    /// The names that an object has more than once.
    static func duplicates(_ value: JSONValue) -> [String] {
        switch value {
        case .array(let elements): return elements.flatMap(duplicates)
        case .object(let entries):
            var seen: Set<String> = []
            return entries.flatMap { (seen.insert($0.name).inserted ? [] : [$0.name]) + duplicates($0.value) }
        default: return []
        }
    }
}

extension JSONValue {
    /// The value of an object's entry.
    subscript(name: String) -> JSONValue? {
        if case .object(let entries) = self { entries.first { $0.name == name }?.value } else { nil }
    }
}
