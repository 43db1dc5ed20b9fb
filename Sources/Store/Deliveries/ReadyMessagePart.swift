/// A part of a continuous delivery that is ready to be sent.
package struct ReadyMessagePart: Sendable, Hashable {
    package let id: Int64
    /// The application of its messages.
    package let applicationID: Int32
    package let accountID: Int32

    package init(id: Int64, applicationID: Int32, accountID: Int32) {
        self.id = id
        self.applicationID = applicationID
        self.accountID = accountID
    }
}
