import Administration

/// Reads CSV as RFC 4180 describes it: commas, double quotes, and line ends, also inside quotes. A line end may be
/// LF, CRLF, or a single CR, as old spreadsheets write. A byte order mark at the beginning is skipped, as a quote may
/// follow it.
struct CSVReader {
    /// The maximum size of a record in bytes: far more than any subscription, but small enough for a file that is not
    /// CSV at all.
    static let maxRecordBytes = 64 * 1_024

    private enum State {
        case fieldStart, unquoted, quoted, quoteInQuoted
    }

    private var state = State.fieldStart
    private var fields: [String] = []
    private var field: [UInt8] = []
    private var line = 1
    /// The lines where the record and its last quoted field begin.
    private var firstLine = 1
    private var quoteLine = 1
    private var recordBytes = 0
    /// Whether the last byte ended a line: then the line counted last is empty.
    private var isAtLineStart = true
    /// Whether the last byte was a CR: an LF after it belongs to the same line end.
    private var isBehindReturn = false
    /// The number of byte order mark bytes at the beginning; nil after the beginning.
    private var markBytes: Int? = 0
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// What is wrong with the record, whose fields are then dropped.
    private var problem: String?
    private var isEmpty = true

    /// Reads some bytes and returns the records that they complete.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [CSVRecord] {
        var records: [CSVRecord] = []
        for byte in bytes {
            if markBytes != nil, isOfMark(byte) { continue }
            if let record = consume(byte) { records.append(record) }
        }
        return records
    }

    /// Whether a byte at the beginning may belong to a byte order mark. If not, the bytes held back so far are read
    /// as text.
    private mutating func isOfMark(_ byte: UInt8) -> Bool {
        let count = markBytes ?? 0
        if count < Self.byteOrderMark.count, byte == Self.byteOrderMark[count] {
            markBytes = count + 1 == Self.byteOrderMark.count ? nil : count + 1
            return true
        }
        readBegunMark()
        return false
    }

    /// None of these bytes ends a record.
    private mutating func readBegunMark() {
        for byte in Self.byteOrderMark.prefix(markBytes ?? 0) { _ = consume(byte) }
        markBytes = nil
    }

    /// Ends the input. Returns the last record if its line had no end.
    mutating func finish() -> CSVRecord? {
        readBegunMark()
        if state == .quoted {
            fields = []
            let behind = lastLine - quoteLine
            problem =
                "the quote that opens on line \(quoteLine) is never closed, so "
                + (behind > 0 ? "the \(behind) lines after it were never read" : "the rest of the line was never read")
                + ": close it, and double the quotes inside a field"
        }
        return endRecord()
    }

    private var lastLine: Int { isAtLineStart && line > firstLine ? line - 1 : line }

    private mutating func consume(_ byte: UInt8) -> CSVRecord? {
        let isReturn = byte == UInt8(ascii: "\r")
        let isLineEnd = isReturn || byte == UInt8(ascii: "\n")
        // The second half of a line end that was already handled.
        let isSecondHalf = byte == UInt8(ascii: "\n") && isBehindReturn
        isBehindReturn = isReturn
        if isSecondHalf, state != .quoted { return nil }
        isAtLineStart = false
        defer {
            if isLineEnd, !isSecondHalf { line += 1 }
            isAtLineStart = isLineEnd
        }
        if isLineEnd, state != .quoted { return endRecord() }
        // The size of a file fits into an `Int`.
        recordBytes += 1
        if recordBytes > Self.maxRecordBytes {
            fail(
                "the record is longer than \(Self.maxRecordBytes) bytes: is a quote not closed, or is this not a CSV file?"
            )
        }
        isEmpty = false
        accept(byte)
        return nil
    }

    private mutating func accept(_ byte: UInt8) {
        switch (state, byte) {
        case (.fieldStart, UInt8(ascii: "\"")):
            state = .quoted
            quoteLine = line
        case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
        case (.quoteInQuoted, UInt8(ascii: "\"")):
            keep(byte)
            state = .quoted
        case (.fieldStart, UInt8(ascii: ",")), (.unquoted, UInt8(ascii: ",")), (.quoteInQuoted, UInt8(ascii: ",")):
            endField()
        case (.quoteInQuoted, _):
            fail("something follows a closing quote: double the quotes inside a field")
            state = .unquoted
        case (.unquoted, UInt8(ascii: "\"")):
            fail("a quote stands inside a field without quotes: put the whole field in quotes")
        case (.fieldStart, _):
            keep(byte)
            state = .unquoted
        case (.unquoted, _), (.quoted, _): keep(byte)
        }
    }

    private mutating func keep(_ byte: UInt8) {
        if problem == nil { field.append(byte) }
    }

    private mutating func fail(_ text: String) {
        guard problem == nil else { return }
        problem = text
        fields = []
        field = []
    }

    private mutating func endField() {
        state = .fieldStart
        guard problem == nil else { return }
        guard let text = String(validating: field, as: UTF8.self) else {
            return fail("field \(fields.count + 1) is not UTF-8: save the file as UTF-8")
        }
        fields.append(text)
        field.removeAll(keepingCapacity: true)
    }

    private mutating func endRecord() -> CSVRecord? {
        defer { startRecord() }
        guard !isEmpty else { return nil }
        endField()
        // Name all of its lines, so that the user looks at each.
        let place = lastLine > firstLine ? " (lines \(firstLine) to \(lastLine))" : ""
        return CSVRecord(
            line: firstLine,
            lines: lastLine - firstLine + 1,
            fields: fields,
            problem: problem.map { $0 + place }
        )
    }

    private mutating func startRecord() {
        fields = []
        field.removeAll(keepingCapacity: true)
        problem = nil
        state = .fieldStart
        isEmpty = true
        recordBytes = 0
        firstLine = line + 1
    }
}
