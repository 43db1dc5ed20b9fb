/// A delivery that a supervisor prepares; check its content, then call `prepareChunk` until it is done.
public struct PreparationJob: Sendable {
    /// The delivery.
    public let deliveryID: Int64
    /// Its name.
    public let label: String
    /// Its content, JSON.
    public let content: String
    /// Its target applications.
    public let applications: [ApplicationRow]
    /// The routing of each, in the same order.
    public let accounts: [AccountRow]
    /// The credential of each, in the same order; nil for one that has none.
    public let credentials: [CredentialNotice?]
    /// Whether an earlier preparation was cut short and this one resumes it.
    public internal(set) var resumed: Bool
    /// Whom it goes to, compiled by the claim.
    var target = ChunkTarget()
    /// Whether it has a reason for which its preparation was put off.
    var hasWaited = false

    /// A delivery to prepare.
    public init(
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
}
