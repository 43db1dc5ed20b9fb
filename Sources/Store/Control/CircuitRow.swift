import PushCore

/// The circuit of an application.
package struct CircuitRow: Sendable, Hashable {
    package let application: String
    package let platform: Platform
    package let environment: ApplicationEnvironment
    /// Its circuit; closed without a reason if there never was a problem.
    package let health: ApplicationHealthRow
}
