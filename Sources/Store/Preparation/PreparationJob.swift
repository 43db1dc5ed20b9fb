import PushCore

/// A delivery that a supervisor prepares: check its content, then call `prepareChunk` until it is done.
package struct PreparationJob: Sendable {
    package let deliveryID: Int64
    package let label: String
    /// Its priority when it was claimed.
    package internal(set) var priority: Int16 = 0
    /// Its content, JSON.
    package let content: String
    /// Its variants, if it is an experiment.
    package internal(set) var variants: [Variant] = []
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

    /// A variant of its content.
    package struct Variant: Sendable, Hashable {
        package let number: Int16
        package let label: String
        /// JSON.
        package let content: String

        package init(number: Int16, label: String, content: String) {
            self.number = number
            self.label = label
            self.content = content
        }
    }

    /// What its messages can show: each variant, or the content without a variant if it is no experiment.
    package var shownVariants: [Variant?] { variants.isEmpty ? [nil] : variants }

    /// The delivery as a child would get it, without the key of its day and the base of its message numbers: it can be
    /// rendered and measured, but its message ids mean nothing.
    package func delivery(showing variant: Variant?) -> SendingDelivery {
        SendingDelivery(
            id: deliveryID,
            label: label,
            content: variant?.content ?? content,
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
