import Administration

/// The faults of the simulated gateways, in the control port's form. A plan replaces the previous one.
struct GatewayPlan: Sendable {
    static let both = ["apns", "fcm"]

    var latencyMilliseconds: Int64 = 50
    /// The faults, by their names at the control port.
    var faults: [(String, Cell)] = []

    /// No faults, only the latency.
    static let calm = GatewayPlan()

    /// A plan with these faults.
    init(_ faults: [(String, Cell)] = []) {
        self.faults = faults
    }

    /// Rejects a share of the pushes that would otherwise be accepted.
    static func errors(_ reason: String, rate: Double, retryAfter: String) -> GatewayPlan {
        GatewayPlan([
            (
                "errors",
                .list([
                    .object([("reason", .text(reason)), ("rate", .number(rate)), ("retry_after", .text(retryAfter))])
                ])
            )
        ])
    }

    /// The plan of one gateway as JSON.
    func json(gateway: String, seed: UInt64) -> String {
        var pairs: [(String, Cell)] = [
            ("gateway", .text(gateway)), ("seed", .integer(Int64(truncatingIfNeeded: seed & UInt64(Int64.max)))),
        ]
        pairs.append(("latency", .object([("fixed", .integer(latencyMilliseconds))])))
        return Cell.object(pairs + faults).json
    }
}
