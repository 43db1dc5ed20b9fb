import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// A CSV file of subscriptions, read piece by piece.
final class SubscriptionFile: AsyncSequence, Sendable {
    typealias Element = [ImportRow]

    let path: String
    /// The size of the file in bytes.
    let size: Int64
    private let state = Mutex((report: CSVReport(), columns: ""))

    /// Does not open the file yet.
    ///
    /// - Throws: `CommandFailure` if the file does not exist.
    init(path: String) throws {
        self.path = path
        // The size of a pipe is unknown.
        guard path != "-" else {
            size = 0
            return
        }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory),
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        else {
            throw CommandFailure(.data, "The file \(path) cannot be read: check its path and your permissions.")
        }
        guard !isDirectory.boolValue else {
            throw CommandFailure(.data, "\(path) is a directory: give the path of a CSV file.")
        }
        self.size = size.int64Value
    }

    /// What was found so far.
    var report: CSVReport { state.withLock(\.report) }

    /// How the columns are interpreted, in words; "" until the first line was read.
    var columnWords: String { state.withLock(\.columns) }

    func makeAsyncIterator() -> Iterator { Iterator(file: self) }

    /// Reads the file once, from its beginning.
    struct Iterator: AsyncIteratorProtocol {
        private let file: SubscriptionFile
        private var table: CSVTable<SubscriptionHeader>?

        fileprivate init(file: SubscriptionFile) { self.file = file }

        mutating func next() async throws -> [ImportRow]? {
            let path = file.path
            var table = try self.table ?? CSVTable(path: path) { try SubscriptionHeader($0, file: path) }
            defer {
                file.state.withLock { $0 = (table.report, table.header?.words ?? "") }
                self.table = table
            }
            return try table.next()
        }
    }
}

/// The first line of a subscription file: what each column holds.
struct SubscriptionHeader: CSVHeader, Sendable {
    enum Column: Sendable, Hashable {
        case pushToken, userKey, locale, timeZone, registeredAt
        /// A field of the recipient.
        case recipient(String)
        /// A parameter of the subscription.
        case parameter(String)
    }

    private static let fixed: [(name: String, column: Column)] = [
        ("push_token", .pushToken), ("user_key", .userKey), ("locale", .locale), ("time_zone", .timeZone),
        ("registered_at", .registeredAt),
    ]
    /// The prefixes of names that are parameters of the subscription or fields of the recipient.
    private static let prefixes: [(text: String, make: @Sendable (String) -> Column)] = [
        ("parameter.", { .parameter($0) }), ("parameters.", { .parameter($0) }), ("recipient.", { .recipient($0) }),
    ]
    private static let columnWords =
        "The first line names the columns: push_token, user_key, locale, time_zone, registered_at, parameter.NAME for a parameter of "
        + "the subscription, and recipient.NAME for a field of the recipient."

    /// The columns in their order.
    let columns: [Column]

    /// Reads the first record of a file.
    ///
    /// - Throws: `CommandFailure` if no column is `push_token`, a name appears twice, or one is unknown.
    init(_ record: CSVRecord, file: String) throws {
        let header = try CSVNames(record, file: file)
        let (names, place) = (header.names, header.place)
        let known = Self.fixed.map(\.name)
        try header.requireNoNearName(of: known) { "A field of the recipient is named recipient.\($0)." }
        guard names.contains("push_token") else {
            let hint = NearestName.nearest(to: "push_token", among: names).map { " (nearest: \($0))" } ?? ""
            throw CommandFailure(.data, "\(place): no column is named push_token\(hint). \(Self.columnWords)")
        }
        try header.requireDistinct()
        // An unknown name may be a known column's synonym, such as lang and customer_id, or hold what an import
        // cannot express, such as consent and opt_out.
        let strange = names.filter { name in
            !known.contains(name) && !Self.prefixes.contains { name.hasPrefix($0.text) } && !name.isEmpty
        }
        guard strange.isEmpty else {
            throw CommandFailure(
                .data,
                "\(place): there is no column \(strange.joined(separator: ", ")). Rename it to the column that it means, or to "
                    + "recipient.\(strange[0]) if it is a field of the recipient, or remove it. An import reads no state of "
                    + "consent, so export only addresses that may get messages. \(Self.columnWords)"
            )
        }
        let columns = names.map(Self.column)
        if let nameless = columns.firstIndex(where: { [.recipient(""), .parameter("")].contains($0) }) {
            throw CommandFailure(.data, "\(place): column \(nameless + 1) has no name. Name it, or remove it.")
        }
        if let twice = columns.indices.first(where: { columns[..<$0].contains(columns[$0]) }) {
            throw CommandFailure(.data, "\(place): \(names[twice]) appears twice. Rename or remove one.")
        }
        self.columns = columns
    }

    /// How the columns are interpreted, in one line.
    var words: String {
        let groups = [
            ("", names { column in Self.fixed.first { $0.column == column }?.name }),
            ("fields of the recipient: ", names { if case .recipient(let name) = $0 { name } else { nil } }),
            ("parameters: ", names { if case .parameter(let name) = $0 { name } else { nil } }),
        ]
        let parts = groups.filter { !$0.1.isEmpty }.map { $0.0 + $0.1.joined(separator: ", ") }
        return "columns: " + parts.joined(separator: "; ")
    }

    private func names(_ name: (Column) -> String?) -> [String] { columns.compactMap(name) }

    private static func column(_ name: String) -> Column {
        if let column = fixed.first(where: { $0.name == name })?.column { return column }
        guard let prefix = prefixes.first(where: { name.hasPrefix($0.text) }) else { return .recipient(name) }
        return prefix.make(String(name.dropFirst(prefix.text.count)))
    }

    /// The subscription in a record, or what is wrong with the line.
    func row(_ record: CSVRecord) -> Result<ImportRow, ImportFault> {
        record.values(columns: columns.count).flatMap { row($0, line: record.line) }
    }

    private func row(_ values: [String], line: Int) -> Result<ImportRow, ImportFault> {
        var row = ImportRow(line: line, pushToken: "")
        for (column, value) in zip(columns, values) {
            switch column {
            case .pushToken: row.pushToken = KeyText.trimmed(value)
            case .userKey: row.userKey = KeyText.trimmed(value)
            case .locale: row.locale = KeyText.trimmed(value)
            case .timeZone: row.timeZone = KeyText.trimmed(value)
            case .registeredAt:
                let text = KeyText.trimmed(value)
                guard !text.isEmpty else { continue }
                guard let time = ZonedTime(text) else {
                    return .failure(ImportFault("its registered_at \(ZonedTime.words)"))
                }
                row.registeredAt = DatabaseTime(microsecondsSince1970: time.microsecondsSince1970)
            case .recipient(let name): row.recipient[name] = value
            case .parameter(let name): row.parameters[name] = value
            }
        }
        guard !row.pushToken.isEmpty else {
            return .failure(ImportFault("its push_token is empty: fill it in or remove the line"))
        }
        return .success(row)
    }
}
