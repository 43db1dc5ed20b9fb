import PushCore

/// Whether a child may go on with what it holds.
public struct SendingState: Sendable, Hashable {
    /// The deliveries that were asked for, each with its state; one that does not exist is not there.
    public var deliveries: [Int64: DeliveryState]
    /// The application's circuit.
    public var circuit: CircuitState

    /// How the application stands with the account's gateway; nil if that takes messages.
    public var trouble: GatewayTroubleState?

    /// Whether nothing is sent but probes. It is so for the prober too: that one looks at `circuit`.
    public var isCircuitOpen: Bool { circuit != .closed }

    /// The state of some deliveries and of an application's circuit.
    public init(deliveries: [Int64: DeliveryState], circuit: CircuitState, trouble: GatewayTroubleState? = nil) {
        self.trouble = trouble
        self.deliveries = deliveries
        self.circuit = circuit
    }
}
