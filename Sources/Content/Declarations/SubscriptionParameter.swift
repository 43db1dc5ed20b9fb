import PushCore

/// A parameter that an application's code sends with its registration, and the subscriber's column that stores it.
package struct SubscriptionParameter: Sendable, Hashable, Codable {
    /// Its name in the application's code.
    package let name: String
    package let column: Column
    /// Whether its value is the time zone of subscriptions that have none of their own.
    package let isTimeZone: Bool

    private enum CodingKeys: String, CodingKey {
        case name, column
        case isTimeZone = "time_zone"
    }

    /// Decodes a parameter as stored in the database: the mark may be absent.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        column = try container.decode(Column.self, forKey: .column)
        isTimeZone = try container.decodeIfPresent(Bool.self, forKey: .isTimeZone) ?? false
    }

    /// Writes a parameter; without the mark, as before there was one.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(column, forKey: .column)
        if isTimeZone { try container.encode(true, forKey: .isTimeZone) }
    }

    /// A column of the subscriber.
    package enum Column: Sendable, Hashable, Codable, CustomStringConvertible {
        case userKey, locale, timeZone
        /// A field of the recipient.
        case recipient(String)
        /// A parameter of the subscription, possibly under another name.
        case parameter(String)

        /// Reads `user_key`, `locale`, `time_zone`, `recipient.NAME` or `parameters.NAME`; nil if it is none of them.
        package init?(_ text: String) {
            switch text {
            case "user_key": self = .userKey
            case "locale": self = .locale
            case "time_zone": self = .timeZone
            default:
                let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, !parts[1].isEmpty else { return nil }
                switch parts[0] {
                case "recipient": self = .recipient(parts[1])
                case "parameters", "parameter": self = .parameter(parts[1])
                default: return nil
                }
            }
        }

        /// The column as declarations name it.
        package var description: String {
            switch self {
            case .userKey: "user_key"
            case .locale: "locale"
            case .timeZone: "time_zone"
            case .recipient(let name): "recipient.\(name)"
            case .parameter(let name): "parameters.\(name)"
            }
        }

        /// Decodes a column as stored in the database.
        package init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            guard let column = Column(text) else {
                throw DeclarationError("column \"\(text.prefix(80))\"", "there is no such column", Column.known)
            }
            self = column
        }

        /// Writes the column as ``description``.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        static let known = "use user_key, locale, time_zone, recipient.NAME or parameters.NAME"

        /// Whether it is a field of the recipient or a parameter of the subscription, which hold any text.
        package var isOpen: Bool {
            switch self {
            case .recipient, .parameter: true
            case .userKey, .locale, .timeZone: false
            }
        }
    }

    /// Creates a parameter; without a column it is stored under its own name.
    package init(name: String, column: String? = nil, isTimeZone: Bool = false) throws(DeclarationError) {
        let isNamed =
            !name.isEmpty && name.utf8.count <= 200
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isNamed else {
            throw DeclarationError(
                "subscription parameter \"\(name.prefix(80))\"",
                "its name is empty, is too long, or has control characters",
                "give the name that the application's code uses"
            )
        }
        guard let found = Column(column ?? "parameters.\(name)") else {
            throw DeclarationError(
                "subscription parameter \"\(name)\"",
                "there is no column \"\(column ?? "")\"",
                Column.known
            )
        }
        guard !isTimeZone || found.isOpen else {
            throw DeclarationError(
                "subscription parameter \"\(name)\"",
                "\(found) cannot be marked as the time zone",
                "store it in recipient.NAME or parameters.NAME, or in time_zone without the mark"
            )
        }
        self.name = name
        self.column = found
        self.isTimeZone = isTimeZone
    }
}
