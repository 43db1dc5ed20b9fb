import PushCore

/// What a child serves: one application over one account.
package struct ChildKind: Sendable, Hashable {
    package let applicationID: Int32
    package let accountID: Int32
    package let connector: Connector

    package init(applicationID: Int32, accountID: Int32, connector: Connector) {
        self.applicationID = applicationID
        self.accountID = accountID
        self.connector = connector
    }
}
