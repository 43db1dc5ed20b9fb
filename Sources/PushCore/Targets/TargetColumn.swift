/// The properties of every subscription, by their names in a filter.
package enum TargetColumn: String, Sendable, Hashable, CaseIterable {
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

    /// All possible values of a column with few of them; nil for other columns.
    package var words: [String]? {
        switch self {
        case .platform: Platform.allCases.map(\.rawValue)
        case .environment: ApplicationEnvironment.allCases.map(\.rawValue)
        // As the view pushmta.subscription writes them.
        case .quarantineStatus: ["valid", "with_errors", "quarantine", "denylisted"]
        default: nil
        }
    }

    package var kind: TargetKind {
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
