import Gateways
import PushCore

/// Passes what a gateway tells on to whoever tries it.
final class ProbeDelegate: GatewayDelegate {
    /// Something that the gateway told, or the end of patience.
    enum Sign: Sendable {
        case event(GatewayEvent)
        case outcome(Outcome)
        case timeUp
    }

    /// All signs in their order.
    let signs: AsyncStream<Sign>
    private let continuation: AsyncStream<Sign>.Continuation

    init() {
        (signs, continuation) = AsyncStream.makeStream()
    }

    func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome]) {
        for outcome in outcomes { continuation.yield(.outcome(outcome)) }
    }

    func gatewayEvent(_ event: GatewayEvent) {
        continuation.yield(.event(event))
    }

    func giveUp() {
        continuation.yield(.timeUp)
    }
}
