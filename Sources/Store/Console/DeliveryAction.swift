/// What may be done to a delivery.
package enum DeliveryAction: String, Sendable, CaseIterable {
    /// Nothing new is sent until it is resumed.
    case pause
    /// It continues where it was.
    case resume
    /// Nothing new is ever sent.
    case stop
    /// A delivery that was analysed is started.
    case start
    /// A delivery that was analysed waits for the approval of somebody else, and starts then or later.
    case request
    /// The start of a delivery that waits for it is moved.
    case reschedule
    /// Before its start it is edited again.
    case edit
    /// What has not left stops, and what was sent may be replaced or removed.
    case recall
    /// A new draft says the same.
    case duplicate
}
