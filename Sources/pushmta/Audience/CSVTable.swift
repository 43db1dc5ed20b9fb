import Administration
import Foundation
import PushCore
import Store

/// The columns of a file, named by its first line.
protocol CSVHeader {
    /// What a line describes.
    associatedtype Row

    /// The row that a record describes, or what is wrong with the line.
    func row(_ record: CSVRecord) -> Result<Row, ImportFault>
}

/// What was found so far while reading a file.
struct CSVReport: Sendable {
    /// The maximum number of faults that are kept word for word.
    static let keptFaults = 100

    /// Bytes read.
    var bytes: Int64 = 0
    /// Unusable lines, including all that an open quote has swallowed.
    var faultyLines = 0
    /// The first faults, with their line numbers.
    var faults: [ImportProblem] = []

    /// Lines inside quoted values, read as parts of these.
    var linesInValues = 0
    /// The line where the first such value begins; 0 if there is none.
    var firstLineOfValue = 0

    /// A note about values with line ends, which may be lines swallowed between a missing quote and the next one; nil
    /// if there are none.
    var wordsOnValues: String? {
        guard linesInValues > 0 else { return nil }
        return
            "\(linesInValues) lines were read as parts of values in quotes, the first after line \(firstLineOfValue): "
            + "if these values should have no line ends, a quote was not closed"
    }

    fileprivate mutating func note(_ fault: ImportFault, _ record: CSVRecord) {
        faultyLines += record.lines
        if faults.count < Self.keptFaults { faults.append(ImportProblem(line: record.line, problem: fault.text)) }
    }

    fileprivate mutating func noteLines(of record: CSVRecord) {
        guard record.lines > 1 else { return }
        linesInValues += record.lines - 1
        if firstLineOfValue == 0 { firstLineOfValue = record.line }
    }
}

/// A CSV file whose first line names its columns, read piece by piece.
struct CSVTable<Header: CSVHeader> {
    let path: String
    /// What was found so far.
    private(set) var report = CSVReport()
    private let handle: FileHandle
    private let makeHeader: (CSVRecord) throws -> Header
    private var reader = CSVReader()
    /// The first line; nil until it was read.
    private(set) var header: Header?
    private var isAtEnd = false

    /// The size of one read: large compared with the cost of a read and a statement, small compared with the memory
    /// of a machine.
    private static var pieceBytes: Int { 256 * 1_024 }

    /// Opens a file.
    ///
    /// - Parameter makeHeader: interprets the first line.
    init(path: String, makeHeader: @escaping (CSVRecord) throws -> Header) throws {
        guard let handle = SmallFile.open(path) else {
            throw CommandFailure(.data, "The file \(path) cannot be read: check its path and your permissions.")
        }
        self.path = path
        self.handle = handle
        self.makeHeader = makeHeader
    }

    /// The next rows, at least one; nil at the end.
    mutating func next() throws -> [Header.Row]? {
        while !isAtEnd {
            let rows = try rows(try records())
            if !rows.isEmpty { return rows }
        }
        guard header != nil else {
            throw CommandFailure(.data, "\(path) is empty: its first line names the columns.")
        }
        return nil
    }

    private mutating func records() throws -> [CSVRecord] {
        let piece = try SmallFile.piece(of: handle, path, Self.pieceBytes)
        report.bytes += Int64(piece.count)
        guard !piece.isEmpty else {
            isAtEnd = true
            try? handle.close()
            return reader.finish().map { [$0] } ?? []
        }
        return reader.read(piece)
    }

    private mutating func rows(_ records: [CSVRecord]) throws -> [Header.Row] {
        var rows: [Header.Row] = []
        for record in records {
            guard let header else {
                header = try makeHeader(record)
                continue
            }
            switch header.row(record) {
            case .success(let row):
                rows.append(row)
                report.noteLines(of: record)
            case .failure(let fault): report.note(fault, record)
            }
        }
        return rows
    }
}

extension CSVRecord {
    /// The values of `columns` columns, or what is wrong with the line.
    func values(columns: Int) -> Result<[String], ImportFault> {
        if let problem { return .failure(ImportFault(problem)) }
        guard fields.count == columns else {
            return .failure(
                ImportFault(
                    "it has \(fields.count) fields, but the first line names \(columns): "
                        + "add or remove commas, or put a field with a comma in quotes"
                )
            )
        }
        return .success(fields)
    }
}
