/// The last lines that a process wrote to its standard error, for the day it dies.
struct LastWords: Sendable, Equatable {
    /// The most lines that are kept: a crash of the Swift runtime with its head line and first frames.
    static let maximumLines = 20
    /// The most bytes of one line that are kept.
    static let maximumLineLength = 400

    private var lines: [String] = []
    private var partial: [UInt8] = []

    /// Takes the next bytes and returns the lines that they complete, newline included, ready to be passed on whole.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var complete: [UInt8] = []
        for byte in bytes {
            partial.append(byte)
            // A line that does not end is passed on in pieces, so that it costs no memory.
            if byte == UInt8(ascii: "\n") || partial.count == 8_192 {
                complete += partial
                endLine()
            }
        }
        return complete
    }

    /// Says that the pipe has ended, and returns what was left of an unfinished line.
    mutating func finish() -> [UInt8] {
        guard !partial.isEmpty else { return [] }
        let rest = partial + [UInt8(ascii: "\n")]
        endLine()
        return rest
    }

    private mutating func endLine() {
        let line = String(decoding: partial.prefix(Self.maximumLineLength), as: UTF8.self)
        let printable = line.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        let text = String(printable).trimmedAtEnd
        partial.removeAll(keepingCapacity: true)
        if text.isEmpty { return }
        lines.append(text)
        if lines.count > Self.maximumLines { lines.removeFirst() }
    }

    /// The kept lines, one below the other.
    var text: String { lines.joined(separator: "\n") }
}

extension String {
    /// The string without the blanks at its end.
    fileprivate var trimmedAtEnd: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
