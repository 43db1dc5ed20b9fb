import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Parses the bytes of a pipe into messages, and counts lines that are not messages.
///
/// The peer may be of another version, or a library in it may print to the wrong descriptor. Such a line is counted,
/// its beginning is kept for the log, and reading continues.
package struct LineParser<Message: ProtocolMessage>: Sendable {
    /// The maximum length of a line: 64 KiB, far above any message. It bounds the memory for a peer that sends no
    /// newline.
    package static var maxLineLength: Int { 65_536 }

    /// The number of lines that were not messages of this protocol.
    package private(set) var garbageLines: UInt64 = 0
    /// The beginning of the last such line, at most 200 characters and without control characters; "" before the first.
    package private(set) var lastGarbage = ""
    private var line: [UInt8] = []
    private var skipping = false
    private let decoder = JSONDecoder()

    package init() {}

    /// Takes the next bytes and returns the messages they complete, in order.
    package mutating func parse(_ bytes: some Sequence<UInt8>) -> [Message] {
        var messages: [Message] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine(into: &messages)
            } else if !skipping {
                line.append(byte)
                if line.count > Self.maxLineLength { skipRest() }
            }
        }
        return messages
    }

    /// Ends the input; an unfinished line was torn and counts as garbage.
    package mutating func finish() {
        if !line.isEmpty { recordGarbage() }
        line.removeAll()
        skipping = false
    }

    private mutating func skipRest() {
        recordGarbage()
        line.removeAll()
        skipping = true
    }

    private mutating func endLine(into messages: inout [Message]) {
        defer {
            line.removeAll(keepingCapacity: true)
            skipping = false
        }
        if skipping || line.isEmpty { return }
        if let message = try? decoder.decode(Message.self, from: JSONBody.data(line)),
            (1...ProtocolVersion.current).contains(message.version)
        {
            messages.append(message)
        } else {
            recordGarbage()
        }
    }

    private mutating func recordGarbage() {
        garbageLines += 1
        let text = String(decoding: line.prefix(200), as: UTF8.self)
        lastGarbage = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }
}
