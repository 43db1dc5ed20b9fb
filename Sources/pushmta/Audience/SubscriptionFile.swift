import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// A CSV file of subscriptions, read piece by piece.
final class SubscriptionFile: AsyncSequence, Sendable {
    typealias Element = [ImportRow]

    /// The file's path.
    let path: String
    /// The size of the file in bytes.
    let size: Int64
    private let state = Mutex(CSVReport())

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
    var report: CSVReport { state.withLock { $0 } }

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
                file.state.withLock { $0 = table.report }
                self.table = table
            }
            return try table.next()
        }
    }
}

/// The first line of a subscription file: which column holds what.
struct SubscriptionHeader: CSVHeader, Sendable {
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
        let header = try CSVNames(record, file: file)
        let (names, place) = (header.names, header.place)
        guard names.contains("push_token") else {
            let hint = NearestName.nearest(to: "push_token", among: names).map { " (nearest: \($0))" } ?? ""
            throw CommandFailure(
                .data,
                "\(place): no column is named push_token\(hint). The first line names the columns: push_token, "
                    + "user_key, locale, time_zone, \(Self.parameterPrefix)NAME for parameters of the subscription, and any other "
                    + "name for a field of the recipient."
            )
        }
        try header.requireDistinct()
        if let nameless = names.firstIndex(where: { $0.isEmpty || $0 == Self.parameterPrefix }) {
            throw CommandFailure(.data, "\(place): column \(nameless + 1) has no name. Name it, or remove it.")
        }
        columns = names.map { name in
            if let column = Self.fixed[name] { return column }
            guard name.hasPrefix(Self.parameterPrefix) else { return .recipient(name) }
            return .parameter(String(name.dropFirst(Self.parameterPrefix.count)))
        }
    }

    /// The subscription in a record, or what is wrong with the line.
    func row(_ record: CSVRecord) -> Result<ImportRow, ImportFault> {
        record.values(columns: columns.count).flatMap { row($0, line: record.line) }
    }

    private func row(_ values: [String], line: Int) -> Result<ImportRow, ImportFault> {
        var row = ImportRow(line: line, pushToken: "")
        for (column, value) in zip(columns, values) {
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
