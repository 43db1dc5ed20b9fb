import Administration

/// Reads CSV as RFC 4180 describes it: comma, double quotes, line ends of any kind (LF, CRLF, or CR alone, as old spreadsheets write),
/// which may stand inside quotes. A byte order mark at the beginning is passed over, as what follows may be a quote.
///
/// Bytes go in piece by piece, records come out; a record with a wrong form is marked, and ends where it would if its form were right,
/// so that nothing inside quotes is ever taken for a record of its own. A quote that is never closed takes the rest of the file
/// along. Memory is bounded, whatever the file holds.
struct CSVReader {
    /// The longest record in bytes: far more than any subscription, and little enough for a file that is no CSV at all.
    static let maximumRecordBytes = 64 * 1_024

    private enum State {
        case fieldStart, unquoted, quoted, quoteInQuoted
    }

    private var state = State.fieldStart
    private var fields: [String] = []
    private var field: [UInt8] = []
    private var line = 1
    /// Where the record and its last quoted field begin.
    private var firstLine = 1
    private var quoteLine = 1
    private var recordBytes = 0
    /// Whether the last byte ended a line: then the line that is counted has nothing in it.
    private var isAtLineStart = true
    /// Whether the last byte was a CR: an LF behind it is of the same line end.
    private var isBehindReturn = false
    /// How many bytes of a byte order mark the file begins with; nil behind the beginning.
    private var markBytes: Int? = 0
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// What is wrong with the record; its fields are not kept then.
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

    /// Whether a byte at the beginning may be of a byte order mark; else what looked like the beginning of one is read.
    private mutating func isOfMark(_ byte: UInt8) -> Bool {
        let count = markBytes ?? 0
        if count < Self.byteOrderMark.count, byte == Self.byteOrderMark[count] {
            markBytes = count + 1 == Self.byteOrderMark.count ? nil : count + 1
            return true
        }
        readBegunMark()
        return false
    }

    /// No byte of it ends a record.
    private mutating func readBegunMark() {
        for byte in Self.byteOrderMark.prefix(markBytes ?? 0) { _ = consume(byte) }
        markBytes = nil
    }

    /// Ends the input and returns its last record if the last line had no end.
    mutating func finish() -> CSVRecord? {
        readBegunMark()
        if state == .quoted {
            fields = []
            let behind = lastLine - quoteLine
            problem =
                "the quote that opens on line \(quoteLine) is never closed, so "
                + (behind > 0 ? "the \(behind) lines behind it were never read" : "the rest of the line was never read")
                + ": close it, and double the quotes inside a field"
        }
        return endRecord()
    }

    private var lastLine: Int { isAtLineStart && line > firstLine ? line - 1 : line }

    private mutating func consume(_ byte: UInt8) -> CSVRecord? {
        let isReturn = byte == UInt8(ascii: "\r")
        let isLineEnd = isReturn || byte == UInt8(ascii: "\n")
        // The second half of a line end that has been dealt with.
        let isSecondHalf = byte == UInt8(ascii: "\n") && isBehindReturn
        isBehindReturn = isReturn
        if isSecondHalf, state != .quoted { return nil }
        isAtLineStart = false
        defer {
            if isLineEnd, !isSecondHalf { line += 1 }
            isAtLineStart = isLineEnd
        }
        if isLineEnd, state != .quoted { return endRecord() }
        // The number of bytes of a file fits.
        recordBytes += 1
        if recordBytes > Self.maximumRecordBytes {
            fail(
                "the record is longer than \(Self.maximumRecordBytes) bytes: is a quote not closed, or is this no CSV file?"
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
        // Who fixes the file looks at all of its lines.
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

/// One record of a CSV file.
struct CSVRecord: Sendable, Equatable {
    /// The number of its first line, 1 for the first.
    let line: Int
    /// How many lines it takes: more than one if a value in quotes has line ends, or a quote is not closed.
    let lines: Int
    /// Its fields, quotes taken away.
    let fields: [String]
    /// What is wrong with its form, if anything.
    let problem: String?
}

/// What is wrong with a line of a subscription file and what to do about it.
struct ImportFault: Error, Sendable {
    /// Without the line's number and without its values.
    let text: String

    init(_ text: String) { self.text = text }
}
