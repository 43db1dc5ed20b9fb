import PushCore

extension TargetColumn {
    /// The column as an expression over alias `s`, a subscription; an empty text counts as absent.
    var sql: String {
        switch self {
        case .subscriptionID: "s.id::numeric"
        case .application: Self.ofApplication("name")
        case .platform: Self.ofApplication("platform")
        case .environment: Self.ofApplication("environment")
        case .userKey, .locale, .timeZone, .deviceID, .quarantineReason: "NULLIF(s.\(rawValue), '')"
        case .registeredAt, .createdAt, .quarantinedAt, .lastErrorAt, .enabled, .optedOut: "s.\(rawValue)"
        case .softErrors: "s.soft_errors::numeric"
        case .quarantineStatus:
            """
            CASE s.quarantine_status WHEN 0 THEN 'valid' WHEN 1 THEN 'with_errors' WHEN 2 THEN 'quarantine' ELSE 'denylisted' END
            """
        }
    }

    /// The columns of the subscription that the expression reads.
    var columns: Set<String> {
        switch self {
        case .subscriptionID: ["id"]
        case .application, .platform, .environment: ["application_id"]
        default: [rawValue]
        }
    }

    private static func ofApplication(_ column: String) -> String {
        "(SELECT a.\(column) FROM pushmta_engine.application a WHERE a.id = s.application_id)"
    }
}
