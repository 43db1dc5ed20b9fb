import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Turns the bytes of a pipe into messages, and counts what is none.
///
/// The peer may be another version, or a library in it may print to the wrong descriptor: such a line is counted, the first
/// of its text is kept for the log, and reading goes on.
public struct LineParser<Message: ProtocolMessage>: Sendable {
    /// Longest line in bytes that is kept: 64 KiB, far above any message, so that a peer without newlines costs no memory.
    public static var maximumLineLength: Int { 65_536 }

    /// Lines that were no message of this protocol.
    public private(set) var garbageLines: UInt64 = 0
    /// The beginning of the last such line, at most 200 characters and without control characters; "" before the first.
    public private(set) var lastGarbage = ""
    private var line: [UInt8] = []
    private var skipping = false
    private let decoder = JSONDecoder()

    /// Makes a parser at the start of a line.
    public init() {}

    /// Takes the next bytes and returns the messages that they complete, in order.
    public mutating func parse(_ bytes: some Sequence<UInt8>) -> [Message] {
        var messages: [Message] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine(into: &messages)
            } else if !skipping {
                line.append(byte)
                if line.count > Self.maximumLineLength { skipRest() }
            }
        }
        return messages
    }

    /// Says that the pipe has ended; an unfinished line was torn and counts as garbage.
    public mutating func finish() {
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

/// Writes messages as lines of JSON.
public enum LineEncoder {
    /// The message as one line of JSON, with its newline; empty if the message cannot be written as JSON.
    public static func line(_ message: some ProtocolMessage) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(message) else { return [] }
        return [UInt8](data) + [UInt8(ascii: "\n")]
    }
}
