/// A field of a subscriber in a filter.
public enum TargetField: Sendable, Hashable, CustomStringConvertible {
    /// What is known of every subscription: `locale`, `registered_at`, …
    case column(TargetColumn)
    /// `recipient.NAME`: a field of the recipient.
    case recipient(String)
    /// `parameters.NAME`: a parameter of the subscription.
    case parameter(String)
    /// `device.NAME`: what the device said of itself.
    case device(String)
    /// `mapping.NAME`: a column of the view in which the service's user keys reconcile.
    case mapping(String)

    /// What it holds; nil for a column of a view, which only the database knows.
    public var kind: TargetKind? {
        switch self {
        case .column(let column): column.kind
        case .recipient, .parameter, .device: .text
        case .mapping: nil
        }
    }

    /// The field as a filter names it.
    public var description: String {
        switch self {
        case .column(let column): column.rawValue
        case .recipient(let name): Self.path("recipient", name)
        case .parameter(let name): Self.path("parameters", name)
        case .device(let name): Self.path("device", name)
        case .mapping(let name): Self.path("mapping", name)
        }
    }

    /// The groups of fields whose names are open, with `parameter` for those who write as the import does.
    static func named(_ group: String, _ name: String) -> TargetField? {
        switch group {
        case "recipient": .recipient(name)
        case "parameters", "parameter": .parameter(name)
        case "device": .device(name)
        case "mapping": .mapping(name)
        default: nil
        }
    }

    /// The groups by all their names.
    static let groups = ["recipient", "parameters", "parameter", "device", "mapping"]

    /// The groups and columns, for the hint of a name that is none.
    static let known = TargetColumn.allCases.map(\.rawValue) + groups.filter { $0 != "parameter" }

    private static func path(_ group: String, _ name: String) -> String {
        let scalars = name.unicodeScalars
        let isPlain =
            scalars.first.map(TargetFilterLexer.isNameStart) == true
            && scalars.allSatisfy(TargetFilterLexer.isNamePart)
        return group + "." + (isPlain ? name : "\"" + name.replacing("\"", with: "\"\"") + "\"")
    }
}

/// What is known of every subscription, by the name that a filter has for it.
public enum TargetColumn: String, Sendable, Hashable, CaseIterable {
    case subscriptionID = "subscription_id"
    case application
    case platform
    case environment
    case userKey = "user_key"
    case locale
    case timeZone = "time_zone"
    case deviceID = "device_id"
    case registeredAt = "registered_at"
    case createdAt = "created_at"
    case enabled
    case optedOut = "opted_out"
    case quarantineStatus = "quarantine_status"
    case quarantineReason = "quarantine_reason"
    case quarantinedAt = "quarantined_at"
    case softErrors = "soft_errors"
    case lastErrorAt = "last_error_at"

    /// All texts that it can hold, where these are few; nil where it can hold any.
    public var words: [String]? {
        switch self {
        case .platform: Platform.allCases.map(\.rawValue)
        case .environment: ApplicationEnvironment.allCases.map(\.rawValue)
        // As the view pushmta.subscription writes them.
        case .quarantineStatus: ["valid", "with_errors", "quarantine", "denylisted"]
        default: nil
        }
    }

    public var kind: TargetKind {
        switch self {
        case .subscriptionID, .softErrors: .number
        case .enabled, .optedOut: .boolean
        case .registeredAt, .createdAt, .quarantinedAt, .lastErrorAt: .time
        case .application, .platform, .environment, .userKey, .locale, .timeZone, .deviceID, .quarantineStatus,
            .quarantineReason:
            .text
        }
    }
}

/// What a field of a subscriber holds, as far as a filter can compare it.
public enum TargetKind: String, Sendable, Hashable, CaseIterable {
    /// A text, which may also be compared as a number, a boolean or a time if it reads as one.
    case text
    case number
    case boolean
    case time

    /// The kind with its article, for messages to people.
    public var words: String { "a \(rawValue)" }
}
