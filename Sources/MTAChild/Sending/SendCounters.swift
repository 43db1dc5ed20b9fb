import ProcessProtocol
import PushCore

/// What a child has done since its start.
struct SendCounters: Sendable {
    /// The counts that the child reports.
    var counts = ChildCounts()
    /// Grows with all progress; stands still when the child is stuck.
    var progress: UInt64 = 0
    var outcomes = OutcomeCounts()
}

/// The number of messages by outcome. Plain numbers, because there are 100,000 messages a second.
struct OutcomeCounts: Sendable {
    /// Why a message ended as it did: no reason, its validity, or Adobe's failure reason.
    enum ReasonClass: Int, CaseIterable {
        case none, expired, undefined, userUnknown, unreachable, refused

        init(_ status: MessageStatus, _ reason: String, _ failure: MessageFailure?) {
            // Only expired messages end this way, whatever the gateway answered to an earlier attempt.
            guard status != .ignored || reason != "expired" else {
                self = .expired
                return
            }
            self =
                switch failure?.reason {
                case nil: .none
                case .undefined: .undefined
                case .userUnknown: .userUnknown
                case .unreachable: .unreachable
                case .refused: .refused
                }
        }

        /// The class's name as a metric label.
        var name: String {
            switch self {
            case .none: "none"
            case .expired: "expired"
            case .undefined: "undefined"
            case .userUnknown: "user_unknown"
            case .unreachable: "unreachable"
            case .refused: "refused"
            }
        }
    }

    /// The raw values of statuses go up to 9.
    private static let statuses = 10

    private var counts = [Int64](repeating: 0, count: statuses * ReasonClass.allCases.count)

    mutating func add(_ status: MessageStatus, _ reason: ReasonClass) {
        counts[reason.rawValue * Self.statuses + Int(status.rawValue)] += 1
    }

    /// The counts that are not zero.
    var all: [OutcomeFigure] {
        ReasonClass.allCases.flatMap { reason in
            MessageStatus.allCases.compactMap { status in
                let count = counts[reason.rawValue * Self.statuses + Int(status.rawValue)]
                guard count > 0 else { return nil }
                return OutcomeFigure(outcome: status.name, reasonClass: reason.name, count: count)
            }
        }
    }
}
