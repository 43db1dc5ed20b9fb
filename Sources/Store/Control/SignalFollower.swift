import PushCore

/// A delivery under way that follows a signal, with its controller.
package struct SignalFollower: Sendable, Hashable {
    package let deliveryID: Int64
    /// When it began to follow, verbatim: a new controller keeps nothing of the old one.
    let followedAt: String
    package var controller: SignalController
    /// The messages that its limit has granted so far, and as of the last value.
    let granted: Int64
    let grantedBefore: Int64

    /// The messages a second that the limit granted since the last value; nil if unknown.
    package func sent(at moment: Duration) -> Double? {
        guard let before = controller.memory.sampledAt, moment > before else { return nil }
        return Double(max(0, granted - grantedBefore)) / ((moment - before) / .seconds(1))
    }
}
