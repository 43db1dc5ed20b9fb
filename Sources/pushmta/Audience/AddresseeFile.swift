import Administration
import ArgumentParser
import PushCore
import Store

/// A person named by a line of a file.
struct AddresseeLine: Sendable {
    let line: Int
    let target: ExplicitTarget
}

/// A CSV file of people, one per line, read piece by piece.
struct AddresseeFile {
    private var table: CSVTable<AddresseeHeader>
    private var strangers = 0
    private var strangeLines: [Int] = []

    /// The maximum number of unmatched lines that are listed individually.
    private static let namedLines = 20

    /// Opens a file.
    ///
    /// - Parameter takesVariables: whether other columns are variables of the messages; if not, they are refused.
    init(path: String, takesVariables: Bool) throws {
        table = try CSVTable(path: path) { try AddresseeHeader($0, file: path, takesVariables: takesVariables) }
    }

    /// The lines skipped so far.
    var faultyLines: Int { table.report.faultyLines }

    /// The next people, at least one; nil at the end.
    mutating func next() throws -> [AddresseeLine]? { try table.next() }

    /// Records which of the lines just read match no subscription, by their places.
    mutating func noteStrangers(_ places: [Int], of lines: [AddresseeLine]) {
        strangers += places.count
        strangeLines += places.prefix(max(0, Self.namedLines - strangeLines.count)).map { lines[$0].line }
    }

    /// The number of lines that match no subscription, in words; empty if there are none.
    var strangerWords: String {
        strangers == 0 ? "" : ", \(strangers) of them match no subscription"
    }

    /// Reports the skipped and unmatched lines. If any were skipped, ends the command with the exit status for that.
    func report() throws {
        let faults = table.report.faults
        for fault in faults { StandardError.write("\(table.path), \(fault)\n") }
        if faultyLines > faults.count { StandardError.write("… and \(faultyLines - faults.count) more lines\n") }
        for line in strangeLines {
            StandardError.write(
                "\(table.path), line \(line): no subscription matches it: check that it is written as the app registers it\n"
            )
        }
        if strangers > strangeLines.count {
            StandardError.write("… and \(strangers - strangeLines.count) more lines that match no subscription\n")
        }
        if let words = table.report.wordsOnValues { StandardError.write("\(table.path): \(words)\n") }
        if faultyLines > 0 { throw ExitCode(CommandFailure.Code.data.rawValue) }
    }
}

/// The first line of a file of people: what each column holds.
struct AddresseeHeader: CSVHeader, Sendable {
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
    /// - Throws: `CommandFailure` if no column names people, a name appears twice, or a name is unknown.
    init(_ record: CSVRecord, file: String, takesVariables: Bool) throws {
        let header = try CSVNames(record, file: file)
        let (names, place) = (header.names, header.place)
        let known = Self.fixed.map(\.name)
        if !names.contains(where: known.contains) {
            try header.requireNoNearName(of: known) { _ in "" }
            throw CommandFailure(
                .data,
                "\(place): no column names people. The first line names the columns: \(known.joined(separator: ", "))"
                    + (takesVariables ? ", and any other name for a variable of the message." : ".")
            )
        }
        try header.requireDistinct()
        try header.requireNoNearName(of: known) { _ in
            takesVariables ? "Give a variable a less similar name." : ""
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

    /// The person that a record names, or what is wrong with the line.
    func row(_ record: CSVRecord) -> Result<AddresseeLine, ImportFault> {
        record.values(columns: columns.count).flatMap(target).map { AddresseeLine(line: record.line, target: $0) }
    }

    private func target(_ values: [String]) -> Result<ExplicitTarget, ImportFault> {
        guard values.allSatisfy({ !$0.utf8.contains(0) }) else {
            return .failure(ImportFault("a value holds the character U+0000, which the database cannot store"))
        }
        var addressees: [Addressee] = []
        var variables: [(String, Cell)] = []
        for (column, text) in zip(columns, values) {
            let value = if case .variable = column { text } else { KeyText.trimmed(text) }
            if value.isEmpty { continue }
            switch column {
            case .userKey:
                if let problem = KeyText.problem(userKey: value) { return .failure(ImportFault("its \(problem)")) }
                addressees.append(.userKey(value))
            case .subscriptionID:
                guard let id = Int64(value) else { return .failure(ImportFault("its subscription_id is not a number")) }
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
                    "it \(addressees.isEmpty ? "names no one" : "names its addressee more than once"): fill in exactly one of "
                        + Self.fixed.map(\.name).joined(separator: ", ")
                )
            )
        }
        let json = variables.isEmpty ? nil : Cell.object(variables).json
        if let json, json.utf8.count > MessageLimits.maxVariablesBytes {
            return .failure(
                ImportFault(
                    "its variables have \(json.utf8.count) bytes, and at most \(MessageLimits.maxVariablesBytes) are allowed: "
                        + "give only the values that the content uses"
                )
            )
        }
        return .success(ExplicitTarget(addressees[0], variables: json))
    }
}
