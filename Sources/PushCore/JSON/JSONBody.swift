#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Values as JSON, by Foundation's coders; what comes from outside is read in a way that no text can end the process.
public enum JSONBody {
    /// Decodes a value.
    ///
    /// - Throws: `DecodingError` for what is not JSON or not of that form.
    public static func decode<Value: Decodable>(_ type: Value.Type, from text: some Collection<UInt8>) throws -> Value {
        try JSONDecoder().decode(type, from: data(text))
    }

    /// A value as JSON, with its members in the order of their names.
    ///
    /// - Throws: `EncodingError` for what JSON cannot say.
    public static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// The bytes with a blank behind them, for a decoder that is kept.
    ///
    /// Foundation of Swift 6.3 traps when the byte that exceeds its nesting limit (513 times `[`, for example) is the last one:
    /// it looks for the place of the error behind the end.
    public static func data(_ text: some Collection<UInt8>) -> Data {
        var data = Data(capacity: text.count + 1)
        data.append(contentsOf: text)
        data.append(0x20)
        return data
    }
}
