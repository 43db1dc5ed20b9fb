import PushCore

/// What a child serves for its whole life: one application through one external account.
struct ChildKind: Sendable, Hashable, Comparable, CustomStringConvertible {
    var applicationID: Int32
    var accountID: Int32
    var connector: Connector

    var description: String { "application \(applicationID) through account \(accountID) (\(connector.rawValue))" }

    static func < (left: Self, right: Self) -> Bool {
        (left.applicationID, left.accountID) < (right.applicationID, right.accountID)
    }
}
