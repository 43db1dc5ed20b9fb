/// Reads CSV as RFC 4180 describes it (comma, double quotes, line ends of either kind), but one line is one record: a line
/// end inside quotes is refused, so that a quote that is never closed spoils its own line and no other.
///
/// Bytes go in piece by piece, records come out; a record with a wrong form is marked. Memory is bounded, whatever the file
/// holds.
struct CSVReader {
    /// The longest record in bytes: far more than any subscription, and little enough for a file that is no CSV at all.
    static let maximumRecordBytes = 64 * 1_024

    private enum State {
        case fieldStart, unquoted, quoted, quoteInQuoted
        /// The rest of a line whose form is wrong.
        case skipping
    }

    private var state = State.fieldStart
    private var fields: [String] = []
    private var field: [UInt8] = []
    private var line = 1
    private var recordBytes = 0
    private var problem: String?
    private var isEmpty = true

    /// Reads some bytes and returns the records that they complete.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [CSVRecord] {
        var records: [CSVRecord] = []
        for byte in bytes {
            if let record = consume(byte) { records.append(record) }
        }
        return records
    }

    /// Ends the input and returns its last record if the last line had no end.
    mutating func finish() -> CSVRecord? {
        endRecord()
    }

    private mutating func consume(_ byte: UInt8) -> CSVRecord? {
        if byte == UInt8(ascii: "\n") {
            defer { line += 1 }
            return endRecord()
        }
        recordBytes += 1
        guard recordBytes <= Self.maximumRecordBytes else {
            fail("the line is longer than \(Self.maximumRecordBytes) bytes: is this a CSV file?")
            return nil
        }
        if byte == UInt8(ascii: "\r"), state != .quoted { return nil }
        isEmpty = false
        accept(byte)
        return nil
    }

    private mutating func accept(_ byte: UInt8) {
        switch (state, byte) {
        case (.fieldStart, UInt8(ascii: "\"")): state = .quoted
        case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
        case (.quoteInQuoted, UInt8(ascii: "\"")):
            field.append(byte)
            state = .quoted
        case (.fieldStart, UInt8(ascii: ",")), (.unquoted, UInt8(ascii: ",")), (.quoteInQuoted, UInt8(ascii: ",")):
            endField()
        case (.quoteInQuoted, _): fail("something follows a closing quote: double the quotes inside a field")
        case (.unquoted, UInt8(ascii: "\"")):
            fail("a quote stands inside a field without quotes: put the whole field in quotes")
        case (.fieldStart, _):
            field.append(byte)
            state = .unquoted
        case (.unquoted, _), (.quoted, _): field.append(byte)
        case (.skipping, _): break
        }
    }

    private mutating func fail(_ text: String) {
        problem = problem ?? text
        state = .skipping
        field = []
    }

    private mutating func endField() {
        if let text = String(validating: field, as: UTF8.self) {
            fields.append(text)
        } else {
            problem = problem ?? "field \(fields.count + 1) is not UTF-8: save the file as UTF-8"
            fields.append("")
        }
        field.removeAll(keepingCapacity: true)
        state = .fieldStart
    }

    private mutating func endRecord() -> CSVRecord? {
        defer { startRecord() }
        guard !isEmpty else { return nil }
        if state == .quoted {
            fail("a quote is not closed on its line: close it, and double the quotes inside a field")
        }
        if state != .skipping { endField() }
        return CSVRecord(line: line, fields: fields, problem: problem)
    }

    private mutating func startRecord() {
        fields = []
        field.removeAll(keepingCapacity: true)
        problem = nil
        state = .fieldStart
        isEmpty = true
        recordBytes = 0
    }
}
