import ArgumentParser
import Foundation
import Store

/// A CSV file of people, one a line, read piece by piece.
struct AddresseeFile {
    /// What is read at once: far above the cost of a read and of a statement, far below the memory of a machine.
    private static let pieceBytes = 256 * 1_024
    /// How many faults are kept word for word.
    private static let keptFaults = 100

    private let path: String
    private let takesVariables: Bool
    private let handle: FileHandle
    private var reader = CSVReader()
    private var header: AddresseeHeader?
    private var isAtEnd = false
    private var faults: [ImportProblem] = []
    /// Lines that were left out so far.
    private(set) var faultyLines = 0

    /// Opens a file.
    ///
    /// - Parameter takesVariables: whether other columns are variables of the messages; if not, they are refused.
    init(path: String, takesVariables: Bool) throws {
        guard let handle = SmallFile.open(path) else {
            throw CommandFailure(.data, "The file \(path) cannot be read: check its path and your rights.")
        }
        self.path = path
        self.takesVariables = takesVariables
        self.handle = handle
    }

    /// The next people, at least one; nil at the end.
    mutating func next() throws -> [ExplicitTarget]? {
        while !isAtEnd {
            let targets = try targets(try records())
            if !targets.isEmpty { return targets }
        }
        guard header != nil else {
            throw CommandFailure(.data, "\(path) is empty: its first line names the columns.")
        }
        return nil
    }

    /// Tells about the lines that were left out, and ends the command with the status for them.
    func report() throws {
        for fault in faults { StandardError.write("\(path), \(fault)\n") }
        if faultyLines > faults.count { StandardError.write("… and \(faultyLines - faults.count) more lines\n") }
        if faultyLines > 0 { throw ExitCode(CommandFailure.Code.data.rawValue) }
    }

    private mutating func records() throws -> [CSVRecord] {
        let piece = try SmallFile.piece(of: handle, path, Self.pieceBytes)
        guard !piece.isEmpty else {
            isAtEnd = true
            try? handle.close()
            return reader.finish().map { [$0] } ?? []
        }
        return reader.read(piece)
    }

    private mutating func targets(_ records: [CSVRecord]) throws -> [ExplicitTarget] {
        var targets: [ExplicitTarget] = []
        for record in records {
            guard let header else {
                header = try AddresseeHeader(record, file: path, takesVariables: takesVariables)
                continue
            }
            switch header.target(record) {
            case .success(let target): targets.append(target)
            case .failure(let fault):
                faultyLines += 1
                if faults.count < Self.keptFaults {
                    faults.append(ImportProblem(line: record.line, problem: fault.text))
                }
            }
        }
        return targets
    }
}
