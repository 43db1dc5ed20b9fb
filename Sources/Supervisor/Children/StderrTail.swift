/// The last lines on a process's standard error, recorded when it dies.
struct StderrTail: Sendable, Equatable {
    /// The maximum number of lines kept: enough for a crash of the Swift runtime with its head line and first frames.
    static let maxLines = 20
    /// The maximum number of bytes kept of a line.
    static let maxLineLength = 400

    private var lines: [String] = []
    private var partial: [UInt8] = []

    /// Takes the next bytes and returns the lines they complete, with newlines, ready to be passed on.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var complete: [UInt8] = []
        for byte in bytes {
            partial.append(byte)
            // A line without an end is passed on in pieces, which bounds the memory it takes.
            if byte == UInt8(ascii: "\n") || partial.count == 8_192 {
                complete += partial
                endLine()
            }
        }
        return complete
    }

    /// Ends the pipe and returns the rest of an unfinished line.
    mutating func finish() -> [UInt8] {
        guard !partial.isEmpty else { return [] }
        let rest = partial + [UInt8(ascii: "\n")]
        endLine()
        return rest
    }

    private mutating func endLine() {
        let line = String(decoding: partial.prefix(Self.maxLineLength), as: UTF8.self)
        let printable = line.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) }
        let text = String(printable).trimmedAtEnd
        partial.removeAll(keepingCapacity: true)
        if text.isEmpty { return }
        lines.append(text)
        if lines.count > Self.maxLines { lines.removeFirst() }
    }

    /// The kept lines, joined by newlines.
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
