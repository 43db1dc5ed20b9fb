/// How often the same was said about tokens in a delivery with one reason, by what became of it.
public struct TokenEventCount: Sendable, Hashable {
    /// The delivery, nil for what came without one.
    public let deliveryID: Int64?
    /// The application's name.
    public let application: String
    /// What was said.
    public let kind: TokenEventKind
    /// The gateway's words.
    public let reason: String
    /// Not decided yet.
    public let pending: Int64
    /// Put aside while the circuit is open.
    public let held: Int64
    /// Done to the subscription.
    public let applied: Int64
    /// Taken back.
    public let undone: Int64
    /// The subscription was registered anew, disabled before, or is gone; or a soft error came too soon after another one to count.
    public let outdated: Int64

    /// A count of token events.
    public init(
        deliveryID: Int64?,
        application: String,
        kind: TokenEventKind = .invalid,
        reason: String,
        pending: Int64,
        held: Int64,
        applied: Int64,
        undone: Int64,
        outdated: Int64
    ) {
        self.deliveryID = deliveryID
        self.application = application
        self.kind = kind
        self.reason = reason
        self.pending = pending
        self.held = held
        self.applied = applied
        self.undone = undone
        self.outdated = outdated
    }
}
