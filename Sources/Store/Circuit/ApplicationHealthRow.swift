/// What keeps an application's messages from being sent, if anything does.
public struct ApplicationHealthRow: Sendable, Hashable {
    /// The application.
    public let applicationID: Int32
    /// Its circuit.
    public let state: CircuitState
    /// What is wrong, "" if nothing. With a closed circuit it is trouble that passes by itself.
    public let reason: String
    /// What to do about it.
    public let remedy: String
    /// Probes since the circuit was opened.
    public let probes: Int32
    /// When it was opened, nil while it is closed.
    public let openedAt: DatabaseTime?
    /// Seconds until the next probe on the database's clock, negative when it is due; nil while the circuit is closed.
    public let nextProbeInSeconds: Double?
    /// Whether what gateways say about tokens is put aside.
    public let tokenEffectsHeld: Bool

    /// The health of an application.
    public init(
        applicationID: Int32,
        state: CircuitState,
        reason: String,
        remedy: String,
        probes: Int32,
        openedAt: DatabaseTime?,
        nextProbeInSeconds: Double?,
        tokenEffectsHeld: Bool
    ) {
        self.applicationID = applicationID
        self.state = state
        self.reason = reason
        self.remedy = remedy
        self.probes = probes
        self.openedAt = openedAt
        self.nextProbeInSeconds = nextProbeInSeconds
        self.tokenEffectsHeld = tokenEffectsHeld
    }
}
