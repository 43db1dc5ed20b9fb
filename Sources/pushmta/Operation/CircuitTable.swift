import Administration
import PushCore
import Store

/// The circuit breakers of applications.
enum CircuitTable {
    /// The columns of a circuit. Those that are also in the view `pushmta.application` have its names.
    static let columns = [
        "circuit", "circuit_reason", "circuit_remedy", "probes", "next_probe_s", "token_effects_held",
    ]

    /// One row per application.
    static func table(_ circuits: [CircuitRow]) -> Table {
        var table = Table(["application", "platform", "environment"] + columns)
        for circuit in circuits {
            table.add(
                [
                    .text(circuit.application), .text(circuit.platform.rawValue), .text(circuit.environment.rawValue),
                ] + cells(circuit.health)
            )
        }
        return table
    }

    /// The cells of one application's circuit; nil means that the application has never failed.
    static func cells(_ health: ApplicationHealthRow?) -> [Cell] {
        guard let health else { return [.text(CircuitState.closed.rawValue), "", "", 0, .none, .flag(false)] }
        return [
            .text(health.state.rawValue), .text(health.reason), .text(health.remedy), Cell(health.probes),
            health.nextProbeInSeconds.map { .number(max(0, $0)) } ?? .none, .flag(health.tokenEffectsHeld),
        ]
    }
}
