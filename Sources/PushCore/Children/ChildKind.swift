/// What a child serves for its whole life: one application through one external account.
package struct ChildKind: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let applicationID: Int32
    package let accountID: Int32
    /// The connector of that account.
    package let connector: Connector

    package init(applicationID: Int32, accountID: Int32, connector: Connector) {
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
    }

    package var description: String {
        "application \(applicationID) through account \(accountID) (\(connector.rawValue))"
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.applicationID, left.accountID) < (right.applicationID, right.accountID)
    }
}
