import PushCore

/// A way to a push gateway: batches of messages in, the outcome of each message out.
///
/// A gateway dials and redials by itself, never repeats a message by itself, and settles every message of a submitted
/// batch exactly once through its ``GatewayDelegate``.
public protocol Gateway: AnyObject, Sendable {
    /// The form in which it takes bodies.
    var payloadFormat: PayloadFormat { get }

    /// What one request may carry.
    var limits: GatewayLimits { get }

    /// Whether a message is taken when nothing is said about it: then a connection that comes about is all that shows that the gateway is
    /// well, and one that ends says nothing against it.
    var takesInSilence: Bool { get }

    /// Begins to connect.
    ///
    /// - Throws: what makes every attempt useless, for example a CA file that cannot be read. An unreachable gateway is a
    ///   ``GatewayEvent`` instead, and is tried again.
    func start() async throws

    /// Queues a batch; may be called from any thread and costs one hop to the gateway's event loop.
    func submit(_ batch: GatewayRequestBatch)

    /// Gives back every message that has not been written yet as *unprocessed*.
    func cancelQueued()

    /// Ends the pauses between attempts to reach the gateway and its token endpoint: somebody has put right what was wrong.
    func retryNow()

    /// Returns the gateway's figures now.
    func status() async -> GatewayStatus

    /// Asks over all open connections whether the gateway is there, and ends those on which nothing comes back in time.
    ///
    /// Returns whether one of them has answered; nil if none is open, or the protocol has no such question.
    func ping(timeout: Duration) async -> Bool?

    /// Gives back what waits as *unprocessed*, lets what is on the wire settle until its deadline, and disconnects.
    func shutdown() async
}

extension Gateway {
    /// Every message is answered.
    public var takesInSilence: Bool { false }

    /// The protocol has no such question.
    public func ping(timeout: Duration) async -> Bool? { nil }
}
