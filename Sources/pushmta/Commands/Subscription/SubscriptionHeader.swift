import PushCore
import Store

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
