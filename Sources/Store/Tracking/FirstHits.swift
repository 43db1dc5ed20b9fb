/// The messages of a delivery of which devices have told something, each counted once.
public struct FirstHits: Sendable, Hashable {
    /// Messages that were received.
    public var received: Int64
    /// Messages that were clicked on or opened.
    public var clicked: Int64

    /// Counts.
    public init(received: Int64, clicked: Int64) {
        self.received = received
        self.clicked = clicked
    }
}
