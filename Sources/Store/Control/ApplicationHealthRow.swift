/// The health of an application: why its messages are not sent, if anything prevents it.
package struct ApplicationHealthRow: Sendable, Hashable {
    package let applicationID: Int32
    package let state: CircuitState
    /// What is wrong, "" if nothing. With a closed circuit it is a problem that passes without help.
    package let reason: String
    /// What to do about it.
    package let remedy: String
    /// Probes since the circuit was opened.
    package let probes: Int32
    /// When it was opened, nil while it is closed.
    package let openedAt: DatabaseTime?
    /// Seconds until the next probe on the database's clock, negative when it is due; nil while the circuit is closed.
    package let nextProbeInSeconds: Double?
    /// Whether what gateways report about tokens is held back.
    package let tokenEffectsHeld: Bool
}
