/// What the simulated devices have told their web server, as the simulator counts it.
struct FleetReport: Sendable, Decodable {
    /// Registrations that were answered with 200.
    let registered: Int64
    /// Receipts that were answered with 200.
    let received: Int64
    /// Clicks that were answered with 200.
    let clicked: Int64
    /// Requests without an answer, or with another one.
    let failed: Int64
    /// Requests that are to be made.
    let waiting: Int64
}
