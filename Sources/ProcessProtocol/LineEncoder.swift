#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes messages as lines of JSON.
package enum LineEncoder {
    /// The message as one line of JSON, with its newline; empty if the message cannot be written as JSON.
    package static func line(_ message: some ProtocolMessage) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(message) else { return [] }
        return [UInt8](data) + [UInt8(ascii: "\n")]
    }
}
