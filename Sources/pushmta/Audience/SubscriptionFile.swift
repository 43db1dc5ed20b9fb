import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// A CSV file of subscriptions, read piece by piece.
final class SubscriptionFile: AsyncSequence, Sendable {
    typealias Element = [ImportRow]

    /// What is read at once: far above the cost of a read, far below the memory of a machine.
    private static let pieceBytes = 256 * 1_024
    /// How many faults are kept word for word.
    static let keptFaults = 100

    /// What reading has brought to light so far.
    struct FileReport: Sendable {
        /// Bytes read.
        var bytes: Int64 = 0
        /// Lines that cannot be imported.
        var faultyLines = 0
        /// The first of them, with their numbers.
        var faults: [ImportProblem] = []
    }

    /// The file's path.
    let path: String
    /// The size of the file in bytes.
    let size: Int64
    private let state = Mutex(FileReport())

    /// Opens nothing yet.
    ///
    /// - Throws: `CommandFailure` if the file is not there.
    init(path: String) throws {
        self.path = path
        // How much comes through a pipe nobody knows.
        guard path != "-" else {
            size = 0
            return
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        else {
            throw CommandFailure(.data, "The file \(path) cannot be read: check its path and your rights.")
        }
        guard !isDirectory.boolValue else {
            throw CommandFailure(.data, "\(path) is a directory: give the path of a CSV file.")
        }
        self.size = size.int64Value
    }

    /// What reading has brought to light so far.
    var report: FileReport { state.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(file: self) }

    /// Reads the file once, from its beginning.
    struct Iterator: AsyncIteratorProtocol {
        private let file: SubscriptionFile
        private var handle: FileHandle?
        private var reader = CSVReader()
        private var header: SubscriptionHeader?
        private var isAtEnd = false

        fileprivate init(file: SubscriptionFile) { self.file = file }

        mutating func next() async throws -> [ImportRow]? {
            while !isAtEnd {
                let rows = try rows(try records())
                if !rows.isEmpty { return rows }
            }
            guard header != nil else {
                throw CommandFailure(.data, "\(file.path) is empty: its first line names the columns.")
            }
            return nil
        }

        private mutating func records() throws -> [CSVRecord] {
            guard let handle = self.handle ?? SmallFile.open(file.path) else {
                throw CommandFailure(.data, "The file \(file.path) cannot be opened: check your rights.")
            }
            self.handle = handle
            let piece = try SmallFile.piece(of: handle, file.path, SubscriptionFile.pieceBytes)
            file.state.withLock { $0.bytes += Int64(piece.count) }
            guard !piece.isEmpty else {
                isAtEnd = true
                try? handle.close()
                return reader.finish().map { [$0] } ?? []
            }
            return reader.read(piece)
        }

        private mutating func rows(_ records: [CSVRecord]) throws -> [ImportRow] {
            var rows: [ImportRow] = []
            for record in records {
                guard let header else {
                    header = try SubscriptionHeader(record, file: file.path)
                    continue
                }
                switch header.row(record) {
                case .success(let row): rows.append(row)
                case .failure(let fault): file.note(fault, line: record.line)
                }
            }
            return rows
        }
    }

    private func note(_ fault: ImportFault, line: Int) {
        state.withLock { fileReport in
            fileReport.faultyLines += 1
            if fileReport.faults.count < Self.keptFaults {
                fileReport.faults.append(ImportProblem(line: line, problem: fault.text))
            }
        }
    }
}

/// The first line of a subscription file: which column holds what.
struct SubscriptionHeader: Sendable {
    /// What a column holds.
    enum Column: Sendable, Equatable {
        case pushToken, userKey, locale, timeZone
        /// A field of the recipient.
        case recipient(String)
        /// A parameter of the subscription.
        case parameter(String)
    }

    /// What a name begins with that is a parameter of the subscription.
    static let parameterPrefix = "parameter."
    private static let fixed: [String: Column] = [
        "push_token": .pushToken, "user_key": .userKey, "locale": .locale, "time_zone": .timeZone,
    ]

    /// The columns in their order.
    let columns: [Column]

    /// Reads the first record of a file.
    ///
    /// - Throws: `CommandFailure` if no column is `push_token` or a name is there twice.
    init(_ record: CSVRecord, file: String) throws {
        guard record.problem == nil else {
            throw CommandFailure(.data, "\(file), line \(record.line): \(record.problem ?? "")")
        }
        // Spreadsheets put a byte order mark before the first name.
        let names = record.fields.enumerated().map {
            $0.offset == 0 && $0.element.hasPrefix("\u{FEFF}") ? String($0.element.dropFirst()) : $0.element
        }
        guard names.contains("push_token") else {
            let hint = NearestName.nearest(to: "push_token", among: names).map { " (nearest: \($0))" } ?? ""
            throw CommandFailure(
                .data,
                "\(file), line \(record.line): no column is named push_token\(hint). The first line names the columns: push_token, "
                    + "user_key, locale, time_zone, \(Self.parameterPrefix)NAME for parameters of the subscription, and any other "
                    + "name for a field of the recipient."
            )
        }
        if let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
            throw CommandFailure(
                .data,
                "\(file), line \(record.line): two columns are named \(twice). Rename or remove one."
            )
        }
        if let place = names.firstIndex(where: { $0.isEmpty || $0 == Self.parameterPrefix }) {
            throw CommandFailure(
                .data,
                "\(file), line \(record.line): column \(place + 1) has no name. Name it, or remove it."
            )
        }
        columns = names.map { name in
            if let column = Self.fixed[name] { return column }
            guard name.hasPrefix(Self.parameterPrefix) else { return .recipient(name) }
            return .parameter(String(name.dropFirst(Self.parameterPrefix.count)))
        }
    }

    /// The subscription in a record, or what is wrong with the line.
    func row(_ record: CSVRecord) -> Result<ImportRow, ImportFault> {
        if let problem = record.problem { return .failure(ImportFault(problem)) }
        guard record.fields.count == columns.count else {
            return .failure(
                ImportFault(
                    "it has \(record.fields.count) fields, the first line names \(columns.count): "
                        + "add or remove commas, or put a field with a comma in quotes"
                )
            )
        }
        var row = ImportRow(line: record.line, pushToken: "")
        for (column, value) in zip(columns, record.fields) {
            switch column {
            case .pushToken: row.pushToken = value
            case .userKey: row.userKey = value
            case .locale: row.locale = value
            case .timeZone: row.timeZone = value
            case .recipient(let name): if !value.isEmpty { row.recipient[name] = value }
            case .parameter(let name): if !value.isEmpty { row.parameters[name] = value }
            }
        }
        guard !row.pushToken.isEmpty else {
            return .failure(ImportFault("its push_token is empty: fill it in or remove the line"))
        }
        return .success(row)
    }
}
