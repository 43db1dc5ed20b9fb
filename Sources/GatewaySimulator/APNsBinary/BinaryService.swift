/// The shared state of the binary gateway's connections.
final class BinaryService: Sendable {
    let recorder: GatewayRecorder
    let conditions: SharedConditions
    let certificates: ClientCertificateCheck
    let feedback = FeedbackBook()
    let connections: ConnectionGroup<BinaryServerConnection>

    init(recorder: GatewayRecorder, conditions: SharedConditions, certificates: ClientCertificateCheck) {
        self.recorder = recorder
        self.conditions = conditions
        self.certificates = certificates
        connections = ConnectionGroup(
            recorder: recorder,
            conditions: conditions,
            isByCertificate: true,
            // Accepted notifications get no answer that a stall could delay.
            stallsFrozen: true
        )
    }

    /// The status that the plan gives an acceptable notification; nil to accept it.
    func injected(_ plan: FaultPlan) -> BinaryStatus? {
        connections.rollAcceptable { number, dice in
            if let fault = plan.errorPackets, number.isMultiple(of: fault.every) {
                return BinaryStatus(code: fault.status)
            }
            guard !plan.errors.isEmpty else { return nil }
            var draw = dice.unit()
            for error in plan.errors {
                draw -= error.rate
                if draw < 0 { return BinaryStatus(rawValue: error.reason) }
            }
            return nil
        }
    }
}
