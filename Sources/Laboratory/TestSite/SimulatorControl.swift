import Administration
import CurlClient
import PushCore

/// The control port of a running simulator.
struct SimulatorControl: Sendable {
    /// The simulator's report of its addresses.
    let report: SimulatorReport
    private let client = CurlClient()

    /// The control port of the simulator that printed this report.
    init(_ report: SimulatorReport) {
        self.report = report
    }

    /// The simulator's counters.
    func counters() async throws -> SimulatorCount {
        try JSONBody.decode(SimulatorCount.self, from: try await get("/counters"))
    }

    /// Sends a GET request and returns the answer's body.
    func get(_ path: String) async throws -> [UInt8] {
        try await perform(CurlRequest(url: address(path)))
    }

    /// Sends a POST request with a JSON `body`.
    @discardableResult
    func post(_ path: String, _ body: String) async throws -> [UInt8] {
        try await perform(CurlRequest(method: "POST", url: address(path), body: Array(body.utf8)))
    }

    private func address(_ path: String) -> String {
        "http://\(report.control.host):\(report.control.port)\(path)"
    }

    private func perform(_ request: CurlRequest) async throws -> [UInt8] {
        let response = try await client.perform(request)
        guard response.status == 200 else {
            throw CommandFailure(
                .software,
                "The gateway simulator answered \(response.status) to \(request.method) \(request.url): "
                    + String(decoding: response.body, as: UTF8.self)
            )
        }
        return response.body
    }
}
