import Gateways
import PushCore

/// Passes a gateway's events and outcomes to the test.
final class ProbeDelegate: GatewayDelegate {
    /// An event or outcome of the gateway, or the timeout.
    enum Sign: Sendable {
        case event(GatewayEvent)
        case outcome(Outcome)
        case timeUp
    }

    /// All signs in order.
    let signs: AsyncStream<Sign>
    private let continuation: AsyncStream<Sign>.Continuation

    init() {
        (signs, continuation) = AsyncStream.makeStream()
    }

    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome]) {
        for outcome in outcomes { continuation.yield(.outcome(outcome)) }
    }

    func gatewayEvent(_ event: GatewayEvent) {
        continuation.yield(.event(event))
    }

    func giveUp() {
        continuation.yield(.timeUp)
    }
}
