import Administration
import Foundation
import PushCore
import Store

/// A test site's simulated devices. They register with the web process and report receipts and clicks to it.
struct TestDevices: Sendable {
    /// The site of the web process.
    let site: TestSite
    /// The control port of the simulator, which simulates the devices.
    let control: SimulatorControl

    /// One of this many messages is clicked.
    private static let clickEvery = 10
    /// If no request is answered for this long, something is wrong.
    private static let timeout = Duration.seconds(60)
    private static let lookInterval = Duration.milliseconds(20)

    /// Has devices register, spread evenly over the applications, and report messages from now on.
    func register(_ applications: [RegistrableApplication], count: Int64, at port: Int) async throws {
        let fleet = Cell.object([
            ("host", .text("127.0.0.1")), ("port", .integer(Int64(port))),
            ("click_every", .integer(Int64(Self.clickEvery))),
        ])
        try await control.post("/fleet", fleet.json)
        let share = count / Int64(applications.count)
        for (index, application) in applications.enumerated() {
            let rest = index == 0 ? count % Int64(applications.count) : 0
            let devices = Cell.object([
                ("integration_key", .text(application.integrationKey)),
                ("platform", .text(application.platform.rawValue)),
                ("count", .integer(share + rest)),
            ])
            try await control.post("/fleet/devices", devices.json)
        }
        let report = try await reports()
        guard report.registered == count else {
            throw CommandFailure(
                .software,
                "\(report.failed) of \(count) simulated devices could not register. The web process's log is "
                    + "\(site.web.logFile)."
            )
        }
    }

    /// What the devices have done, once they have nothing left to do.
    func reports() async throws -> FleetReport {
        var last = try await report()
        var deadline = ContinuousClock.now + Self.timeout
        while last.waiting > 0, ContinuousClock.now < deadline {
            try site.checkProcesses(withDevices: true)
            try await Task.sleep(for: Self.lookInterval)
            let next = try await report()
            if next.waiting != last.waiting { deadline = ContinuousClock.now + Self.timeout }
            last = next
        }
        return last
    }

    private func report() async throws -> FleetReport {
        try JSONBody.decode(FleetReport.self, from: try await control.get("/fleet"))
    }
}

/// The simulated devices' requests to their web server, as counted by the simulator.
struct FleetReport: Sendable, Decodable {
    /// Registrations that were answered with 200.
    let registered: Int64
    /// Receipts that were answered with 200.
    let received: Int64
    /// Clicks that were answered with 200.
    let clicked: Int64
    /// Requests without an answer, or with another status.
    let failed: Int64
    /// Requests that are still to be made.
    let waiting: Int64
}
