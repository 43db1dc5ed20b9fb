import Administration
import Foundation
import PushCore
import Store

/// The columns of a file whose first line names them.
protocol CSVHeader {
    /// What a line is about.
    associatedtype Row

    /// What a record says, or what is wrong with the line.
    func row(_ record: CSVRecord) -> Result<Row, ImportFault>
}

/// What reading a file has brought to light so far.
struct CSVReport: Sendable {
    /// How many faults are kept word for word.
    static let keptFaults = 100

    /// Bytes read.
    var bytes: Int64 = 0
    /// Lines that say nothing that can be used, with all that an open quote has swallowed.
    var faultyLines = 0
    /// The first of them, with their numbers.
    var faults: [ImportProblem] = []

    /// Lines that are inside of values in quotes, and were read as parts of these.
    var linesInValues = 0
    /// Where the first such value begins, 0 if there is none.
    var firstLineOfValue = 0

    /// A word on values with line ends, which may be lines that a forgotten quote has swallowed up to the next one; nil if there are none.
    var wordsOnValues: String? {
        guard linesInValues > 0 else { return nil }
        return
            "\(linesInValues) lines were read as parts of values in quotes, the first behind line \(firstLineOfValue): "
            + "if these values have no line ends, a quote was not closed"
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
    /// What reading has brought to light so far.
    private(set) var report = CSVReport()
    private let handle: FileHandle
    private let makeHeader: (CSVRecord) throws -> Header
    private var reader = CSVReader()
    /// The first line, nil before it was read.
    private(set) var header: Header?
    private var isAtEnd = false

    /// What is read at once: far above the cost of a read and of a statement, far below the memory of a machine.
    private static var pieceBytes: Int { 256 * 1_024 }

    /// Opens a file.
    ///
    /// - Parameter makeHeader: makes sense of the first line.
    init(path: String, makeHeader: @escaping (CSVRecord) throws -> Header) throws {
        guard let handle = SmallFile.open(path) else {
            throw CommandFailure(.data, "The file \(path) cannot be read: check its path and your rights.")
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

/// The names in the first line of a file.
struct CSVNames {
    let names: [String]
    /// The file and the line, for people.
    let place: String

    /// Reads the first record of a file.
    ///
    /// - Throws: `CommandFailure` if its form is wrong.
    init(_ record: CSVRecord, file: String) throws {
        place = "\(file), line \(record.line)"
        if let problem = record.problem { throw CommandFailure(.data, "\(place): \(problem)") }
        names = record.fields.map(KeyText.trimmed)
    }

    /// - Throws: `CommandFailure` if a name is there twice.
    func requireDistinct() throws {
        guard let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) else { return }
        throw CommandFailure(.data, "\(place): two columns are named \(twice). Rename or remove one.")
    }

    /// - Throws: `CommandFailure` if a name is nearly one of those that mean something: it would be taken for something else without a
    ///   word.
    /// - Parameter other: how the name is written where it is meant as it stands, for the advice.
    func requireNoNearName(of known: [String], other: (String) -> String) throws {
        for name in names where !known.contains(name) {
            guard let near = Self.near(name, among: known) else { continue }
            let advice = ["\(place): there is no column \(name); rename it to \(near).", other(name)]
            throw CommandFailure(.data, advice.filter { !$0.isEmpty }.joined(separator: " "))
        }
    }

    /// The letters and digits of a name, in lower case: user_key, "User Key" and userKey are one.
    static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    /// One letter too many, too few or another one is a slip; two may be another word.
    private static func near(_ name: String, among known: [String]) -> String? {
        let folds = known.map(folded)
        let wanted = folded(name)
        guard let nearest = NearestName.nearest(to: wanted, among: folds, within: 1) else { return nil }
        return folds.firstIndex(of: nearest).map { known[$0] }
    }
}

extension CSVRecord {
    /// The values of so many columns, or what is wrong with the line.
    func values(columns: Int) -> Result<[String], ImportFault> {
        if let problem { return .failure(ImportFault(problem)) }
        guard fields.count == columns else {
            return .failure(
                ImportFault(
                    "it has \(fields.count) fields, the first line names \(columns): "
                        + "add or remove commas, or put a field with a comma in quotes"
                )
            )
        }
        return .success(fields)
    }
}
