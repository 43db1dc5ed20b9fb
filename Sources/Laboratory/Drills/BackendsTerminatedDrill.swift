import Administration
import LaboratoryStore
import Store

/// Server processes of the engine's connections are terminated continuously.
struct BackendsTerminatedDrill: Drill {
    let name = "backends-terminated"
    let summary = "server processes of the engine's connections terminated, several a second"
    let promise = "lost 0, duplicates 0: no lease expires because a connection is lost"
    let isShort = true

    /// The connections' names: those of children, of the supervisor, of all.
    private static let patterns = [
        "pushmta/mta-child/%", "pushmta/mta-child-load/%", "pushmta/mta-child%", "pushmta/supervisor%",
    ]

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator(DrillGateway(streams: 100))
        try await site.addHost().start()
        try await site.keepSending(to: try await site.audience())
        let rate = try await site.undisturbedRate()
        for _ in 0..<minimumFaults { try await terminate(site, pause: 50...400) }
        try await site.outage("all server processes of the engine are terminated", rate: rate) {
            _ = try await site.store().terminateBackends(applicationNameLike: "pushmta/mta-child%")
            _ = try await site.store().terminateBackends(applicationNameLike: "pushmta/supervisor%")
        }
        try await site.untilOver()
        try await site.expectNoLostLease()
    }

    private func terminate(_ site: DrillSite, pause: ClosedRange<Int>) async throws {
        let pattern = site.randomElement(of: Self.patterns) ?? "pushmta/mta-child%"
        let limit = site.random(in: 1...4)
        try await site.fault("server processes of \(pattern) are terminated") {
            // It waits for a connection that is just being reopened; otherwise nothing would happen.
            try await site.until("a connection like \(pattern)", within: .seconds(30)) {
                try await site.store().terminateBackends(applicationNameLike: pattern, limit: limit) > 0
            }
        }
        try await site.pause(milliseconds: pause)
    }
}
