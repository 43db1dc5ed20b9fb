/// What is recorded of one message; the raw value is the `status` column of the broad log.
public enum MessageStatus: Int16, Sendable, Hashable, Codable, CaseIterable {
    /// It was not tried, or given up, for a reason that is nobody's error (for example: expired, quarantined).
    case ignored = 0
    /// The gateway accepted it.
    case sent = 1
    /// The gateway or this product refused it for good.
    case failed = 2
    /// It has no outcome yet. Never stored in the broad log: pending messages live in unfinished parts.
    case pending = 6
    /// The delivery was stopped before it was sent.
    case canceled = 7
    /// Its subscription was gone, disabled or opted out when its turn came.
    case notApplicable = 8
    /// It may or may not have reached the gateway, and the delivery's policy forbids to send it again.
    case unknown = 9

    /// The name in `snake_case`, as the views of schema `pushmta` and the command line print it.
    public var name: String {
        switch self {
        case .ignored: "ignored"
        case .sent: "sent"
        case .failed: "failed"
        case .pending: "pending"
        case .canceled: "canceled"
        case .notApplicable: "not_applicable"
        case .unknown: "unknown"
        }
    }

    /// The status with the given `snake_case` name, or nil when there is none.
    public init?(name: String) {
        guard let status = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = status
    }
}
