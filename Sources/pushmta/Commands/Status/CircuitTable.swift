import PushCore
import Store

/// The circuit breakers of applications.
struct CircuitTable: Sendable {
    /// The columns of a circuit, named as in the view `pushmta.application` where the thing is the same.
    static let columns = [
        "circuit", "circuit_reason", "circuit_remedy", "probes", "next_probe_s", "token_effects_held",
    ]

    /// The applications.
    let applications: [ApplicationRow]
    /// What is known of them; an application without a row never had trouble.
    let health: [ApplicationHealthRow]

    /// One application a row.
    var table: Table {
        var table = Table(["application", "platform", "environment"] + Self.columns)
        for application in applications {
            table.add(
                [
                    .text(application.name), .text(application.platform.rawValue),
                    .text(application.environment.rawValue),
                ] + cells(of: application.id)
            )
        }
        return table
    }

    /// The cells of one application's circuit.
    func cells(of application: Int32) -> [Cell] {
        guard let row = health.first(where: { $0.applicationID == application }) else {
            return [.text(CircuitState.closed.rawValue), "", "", 0, .none, .flag(false)]
        }
        return [
            .text(row.state.rawValue), .text(row.reason), .text(row.remedy), Cell(row.probes),
            row.nextProbeInSeconds.map { .number(max(0, $0)) } ?? .none, .flag(row.tokenEffectsHeld),
        ]
    }
}
