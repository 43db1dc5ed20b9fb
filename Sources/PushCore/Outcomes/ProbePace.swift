/// The pauses between probes of a gateway in trouble.
package enum ProbePace {
    /// The minimum time between two probes of an application on an account. Apple treats rapid reconnects as an attack.
    package static let shortest = Duration.seconds(1)
    /// The maximum pause, so that a recovered gateway is noticed soon.
    package static let longest = Duration.seconds(5)

    /// The pause before the next probe: a random time between ``shortest`` and ``longest``, and later if the gateway
    /// asked for it. Full jitter keeps hosts and applications from probing in step.
    package static func pause(
        notBefore: Duration = .zero,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let random = shortest + (longest - shortest) * Double.random(in: 0...1, using: &generator)
        return notBefore <= shortest ? random : notBefore + (random - shortest)
    }
}
