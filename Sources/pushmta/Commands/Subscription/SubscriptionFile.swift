import Foundation
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
    struct Findings: Sendable {
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
    private let state = Mutex(Findings())

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
    var findings: Findings { state.withLock { $0 } }

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
        state.withLock { findings in
            findings.faultyLines += 1
            if findings.faults.count < Self.keptFaults {
                findings.faults.append(ImportProblem(line: line, problem: fault.text))
            }
        }
    }
}
