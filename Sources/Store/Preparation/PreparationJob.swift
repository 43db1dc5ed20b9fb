import PushCore

/// A delivery that a supervisor prepares: check its content, then call `prepareChunk` until it is done.
package struct PreparationJob: Sendable {
    package let deliveryID: Int64
    package let label: String
    /// Its priority when it was claimed.
    package internal(set) var priority: Int16 = 0
    /// Its content, JSON.
    package let content: String
    /// The contents of its variants, if it is an experiment, JSON.
    package internal(set) var variants: [String] = []
    package let applications: [ApplicationRow]
    /// The account of each application, in the same order.
    package let accounts: [AccountRow]
    /// The credential of each application, in the same order; nil for none.
    package let credentials: [CredentialNotice?]
    /// Whether it goes to explicit targets.
    package internal(set) var isExplicit = false
    /// Nothing of it is sent after this time; nil for no limit.
    var validUntil: DatabaseTime?
    /// How often the preparation of the delivery was dropped: a job of another number is of no use any more.
    var preparation: Int32 = 0
    /// Whether this preparation resumes an interrupted one.
    package internal(set) var resumed: Bool
    /// The target, compiled by the claim.
    var target = ChunkTarget()
    /// Whether the preparation was postponed and shows a reason.
    var hasWaited = false

    package init(
        deliveryID: Int64,
        label: String,
        content: String,
        applications: [ApplicationRow],
        accounts: [AccountRow],
        credentials: [CredentialNotice?],
        resumed: Bool = false
    ) {
        self.deliveryID = deliveryID
        self.label = label
        self.content = content
        self.applications = applications
        self.accounts = accounts
        self.credentials = credentials
        self.resumed = resumed
    }

    /// The delivery as a child would get it, without the key of its day and the base of its message numbers: it can be
    /// rendered and measured, but its message ids mean nothing.
    package var delivery: SendingDelivery {
        SendingDelivery(
            id: deliveryID,
            label: label,
            content: content,
            state: .preparing,
            trackingKey: Array(repeating: 0, count: 16),
            messageIDBase: nil,
            validUntil: validUntil,
            ambiguityPolicy: .resend,
            maxRetries: 0,
            logDay: LogDay(daysSince2000: 0),
            hasVariables: isExplicit,
            isOneTimeCode: target.isOneTimeCode
        )
    }

    /// Whether another job is of the same preparation.
    package func isSame(as other: PreparationJob) -> Bool {
        deliveryID == other.deliveryID && preparation == other.preparation
    }
}
