/// The shared state of the legacy gateway's connections.
final class FCMLegacyService: Sendable {
    let rules: FCMLegacyRules
    let answers = FCMLegacyAnswers()
    let recorder: GatewayRecorder
    let conditions: SharedConditions
    let connections: ConnectionGroup<FCMLegacyConnection>

    init(rules: FCMLegacyRules, recorder: GatewayRecorder, conditions: SharedConditions) {
        self.rules = rules
        self.recorder = recorder
        self.conditions = conditions
        connections = ConnectionGroup(
            recorder: recorder,
            conditions: conditions,
            isByCertificate: false,
            stallsFrozen: false
        )
    }
}
