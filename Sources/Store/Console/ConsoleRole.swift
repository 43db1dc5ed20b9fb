/// The role of a console user; each role includes the rights of the one before it.
package enum ConsoleRole: String, Sendable, CaseIterable, Comparable {
    /// Look at everything but the audit log.
    case read
    /// Compose deliveries, send proofs of them, and start them.
    case marketing
    /// Pause and stop deliveries, drain hosts, resume applications.
    case operate
    /// Declare services and applications, upload credentials, manage users, read the audit log.
    case admin

    /// The less powerful role sorts first.
    package static func < (left: ConsoleRole, right: ConsoleRole) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
