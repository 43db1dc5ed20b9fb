/// The recorded status of a message; the raw value is the column `status` of the broad log.
package enum MessageStatus: Int16, Sendable, Hashable, Codable, CaseIterable {
    /// It was not sent, or was given up, for a reason that is not an error (for example: expired, quarantined).
    case ignored = 0
    /// The gateway accepted it.
    case sent = 1
    /// The gateway or PushMTA permanently refused it.
    case failed = 2
    /// It has no outcome yet. The broad log never has this status: pending messages are in unfinished parts.
    case pending = 6
    /// The delivery was stopped before it was sent.
    case canceled = 7
    /// Its subscription was deleted, disabled or opted out when its turn came.
    case notApplicable = 8
    /// It may or may not have reached the gateway, and the delivery's policy forbids sending it again.
    case unknown = 9

    /// The name in `snake_case`, as in the views of schema `pushmta` and on the command line.
    package var name: String {
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

    /// The status with a `snake_case` name; nil if there is none.
    package init?(name: String) {
        guard let status = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = status
    }
}
