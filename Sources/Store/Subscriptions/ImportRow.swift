import Content
import PushCore

/// A subscription to import, read from one line of a file.
///
/// nil is absent from the file and stays as it is; an empty value clears the field.
package struct ImportRow: Sendable {
    /// Line number in the file, for reports.
    package var line: Int
    package var pushToken: String
    /// Its user; "" for none.
    package var userKey: String?
    /// Language tag.
    package var locale: String?
    /// IANA time zone.
    package var timeZone: String?
    /// Fields of the recipient, for personalisation.
    package var recipient: [String: String]
    package var parameters: [String: String]
    /// When the device last registered.
    package var registeredAt: DatabaseTime?

    /// A subscription from a line.
    package init(
        line: Int,
        pushToken: String,
        userKey: String? = nil,
        locale: String? = nil,
        timeZone: String? = nil,
        recipient: [String: String] = [:],
        parameters: [String: String] = [:],
        registeredAt: DatabaseTime? = nil
    ) {
        self.line = line
        self.pushToken = pushToken
        self.userKey = userKey
        self.locale = locale
        self.timeZone = timeZone
        self.recipient = recipient
        self.parameters = parameters
        self.registeredAt = registeredAt
    }
}

extension ImportRow {
    /// The row with its parameters where the application's declarations place them, and its locale in canonical form.
    func placed(by declarations: ApplicationDeclarations) -> ImportRow {
        var row = self
        if !declarations.parameters.isEmpty { row.place(by: declarations) }
        row.locale = row.locale.map(LocaleTag.canonical)
        return row
    }

    private mutating func place(by declarations: ApplicationDeclarations) {
        let given = parameters
        parameters = [:]
        for (column, value) in declarations.place(given) {
            switch column {
            case .userKey: userKey = KeyText.trimmed(value)
            case .locale: locale = value
            case .timeZone: timeZone = value
            case .recipient(let name): recipient[name] = value
            case .parameter(let name): parameters[name] = value
            }
        }
    }
}
