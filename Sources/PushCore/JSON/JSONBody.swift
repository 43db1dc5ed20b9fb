#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encodes and decodes JSON with Foundation's coders. No input from outside can crash the process.
package enum JSONBody {
    /// Decodes a value.
    ///
    /// - Throws: `DecodingError` if the text is not JSON or does not match the type.
    package static func decode<Value: Decodable>(_ type: Value.Type, from text: some Collection<UInt8>) throws -> Value
    {
        try JSONDecoder().decode(type, from: data(text))
    }

    /// A value as JSON, its members sorted by name.
    ///
    /// - Throws: `EncodingError` if JSON cannot represent the value.
    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// The bytes followed by a blank, for callers that have their own decoder.
    ///
    /// Foundation in Swift 6.3 traps if the byte that exceeds its nesting limit (513 times `[`, for example) is the
    /// last one: it looks for the error's position past the end.
    package static func data(_ text: some Collection<UInt8>) -> Data {
        var data = Data(capacity: text.count + 1)
        data.append(contentsOf: text)
        data.append(0x20)
        return data
    }
}
