import Administration
import ArgumentParser
import Foundation
import PushCore
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

/// The first line of a file of people: which column holds what.
struct AddresseeHeader: Sendable {
    private enum Column: Sendable, Equatable {
        case userKey, subscriptionID, pushToken
        /// A value for a field of the content.
        case variable(String)
    }

    private static let fixed: [(name: String, column: Column)] = [
        ("user_key", .userKey), ("subscription_id", .subscriptionID), ("push_token", .pushToken),
    ]

    private let columns: [Column]

    /// Reads the first record of a file.
    ///
    /// - Throws: `CommandFailure` if no column names people, a name is there twice, or one is unknown.
    init(_ record: CSVRecord, file: String, takesVariables: Bool) throws {
        let place = "\(file), line \(record.line)"
        if let problem = record.problem { throw CommandFailure(.data, "\(place): \(problem)") }
        // Spreadsheets put a byte order mark before the first name.
        let names = record.fields.enumerated().map {
            $0.offset == 0 && $0.element.hasPrefix("\u{FEFF}") ? String($0.element.dropFirst()) : $0.element
        }
        let known = Self.fixed.map(\.name)
        guard names.contains(where: known.contains) else {
            throw CommandFailure(
                .data,
                "\(place): no column names people. The first line names the columns: \(known.joined(separator: ", "))"
                    + (takesVariables ? ", and any other name for a variable of the message." : ".")
            )
        }
        if let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
            throw CommandFailure(.data, "\(place): two columns are named \(twice). Rename or remove one.")
        }
        columns = try names.map { name in
            if let column = Self.fixed.first(where: { $0.name == name })?.column { return column }
            guard takesVariables, !name.isEmpty else {
                throw CommandFailure(
                    .data,
                    "\(place): there is no column \(name): use \(known.joined(separator: ", "))."
                )
            }
            return .variable(name)
        }
    }

    /// Whom a record names, or what is wrong with the line.
    func target(_ record: CSVRecord) -> Result<ExplicitTarget, ImportFault> {
        if let problem = record.problem { return .failure(ImportFault(problem)) }
        guard record.fields.count == columns.count else {
            return .failure(
                ImportFault(
                    "it has \(record.fields.count) fields, the first line names \(columns.count): "
                        + "add or remove commas, or put a field with a comma in quotes"
                )
            )
        }
        guard record.fields.allSatisfy({ !$0.utf8.contains(0) }) else {
            return .failure(ImportFault("a value holds the character U+0000, which no database stores"))
        }
        var addressees: [ExplicitTarget.Addressee] = []
        var variables: [(String, Cell)] = []
        for (column, value) in zip(columns, record.fields) where !value.isEmpty {
            switch column {
            case .userKey:
                guard value.utf8.count <= AddresseeOptions.longestKey else {
                    return .failure(ImportFault("its user_key is longer than \(AddresseeOptions.longestKey) bytes"))
                }
                addressees.append(.user(value))
            case .subscriptionID:
                guard let id = Int64(value) else { return .failure(ImportFault("its subscription_id is no number")) }
                guard id > 0 else {
                    return .failure(ImportFault("its subscription_id \(AddresseeOptions.subscriptionWords)"))
                }
                addressees.append(.subscription(id))
            case .pushToken:
                guard PushTokenForm.canBeToken(value) else {
                    return .failure(ImportFault("its push_token \(AddresseeOptions.tokenWords)"))
                }
                addressees.append(.pushToken(value))
            case .variable(let name): variables.append((name, .text(value)))
            }
        }
        guard addressees.count == 1 else {
            return .failure(
                ImportFault(
                    "it names \(addressees.isEmpty ? "nobody" : "its addressee twice"): fill in exactly one of "
                        + Self.fixed.map(\.name).joined(separator: ", ")
                )
            )
        }
        let json = variables.isEmpty ? nil : Cell.object(variables).json
        if let json, json.utf8.count > MessageLimits.longestVariables {
            return .failure(
                ImportFault(
                    "its variables have \(json.utf8.count) bytes, \(MessageLimits.longestVariables) are taken: "
                        + "give the values that the content shows, and no more"
                )
            )
        }
        return .success(ExplicitTarget(addressees[0], variables: json))
    }
}
