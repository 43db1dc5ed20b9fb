import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The web process and PostgreSQL are killed under load. Afterwards everything that was confirmed to a device is in the
/// database.
@Suite(.serialized) struct WebKillTests {
    /// The process that is killed repeatedly.
    enum Target: CaseIterable {
        case web, postgres
    }

    /// Enough for the load to last through all kills, in a debug build on two cores.
    private static let devices: Int64 = 4_000
    private static let kills: Int64 = 2
    /// Far longer than anything takes, as the machine may be busy.
    private static let limit = Duration.seconds(180)

    @Test(arguments: Target.allCases)
    func whatWasAnsweredIsThere(_ target: Target) async throws {
        let folder = try TemporaryFolder()
        let beside = URL(fileURLWithPath: try Program.pushmta().path).deletingLastPathComponent().path
        let site = try TestSite(folder: folder.path + "/site", programs: beside)
        do {
            try await run(site, target)
        } catch {
            try? await site.stop()
            try? site.remove()
            throw error
        }
        try await site.stop()
        try site.remove()
    }

    private func run(_ site: TestSite, _ target: Target) async throws {
        try await site.prepare()
        let settings = try site.writeSettings(children: 2, webPort: try await FreePort.any())
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.startSimulator()
        try await site.startSupervisor()
        _ = try await site.startWeb(settings)
        let names = try await StoreSession.run(settings, role: "test") { store in
            try await TestAudience(store: store, settings: settings, simulator: simulator).create([.ios])
        }
        let control = SimulatorControl(simulator)

        let registered = try await registrations(site, settings, control, names[0], target)
        let known = try await StoreSession.run(settings, role: "test") { store in
            try await store.subscriptions(application: names[0], limit: Int(Self.devices) + 1).count
        }
        #expect(Int64(known) >= registered.registered, "answered with 200 and not in the database: \(registered)")
        #expect(Int64(known) <= Self.devices)

        let reported = try await receipts(site, settings, control, names[0], target)
        // A running web process loads hits from a spool within seconds.
        try await eventually("the hits of \(reported)", within: Self.limit) {
            let hits = try? await StoreSession.run(settings, role: "test") { store in
                try await store.firstHits(delivery: reported.delivery)
            }
            return (hits?.received ?? 0) >= reported.received
        }
    }

    /// Registers devices while the process is killed.
    private func registrations(
        _ site: TestSite,
        _ settings: Settings,
        _ control: SimulatorControl,
        _ application: String,
        _ target: Target
    ) async throws -> FleetReport {
        let key = try await StoreSession.run(settings, role: "test") { store in
            try await store.registrableApplications().first { $0.name == application }?.integrationKey
        }
        try await control.post("/fleet", #"{"host":"127.0.0.1","port":\#(settings.web.port),"click_every":0}"#)
        try await control.post(
            "/fleet/devices",
            #"{"integration_key":"\#(try #require(key))","platform":"ios","count":\#(Self.devices)}"#
        )
        return try await killing(target, site, settings, control, of: Self.devices)
    }

    /// Delivers to the registered devices, and kills the process while they report.
    private func receipts(
        _ site: TestSite,
        _ settings: Settings,
        _ control: SimulatorControl,
        _ application: String,
        _ target: Target
    ) async throws -> (delivery: Int64, received: Int64) {
        let id = try await StoreSession.run(settings, role: "test") { store in
            let id = try await store.createDelivery(
                NewDelivery(label: "Kill", applications: [application], content: #"{"ios":{"title":"Hello"}}"#)
            )
            try await store.startDelivery(id)
            return id
        }
        let end = try await killing(target, site, settings, control, of: nil, delivery: id)
        return (id, end.received)
    }

    /// Kills the process each time another part of the work is done, until all of it is done.
    private func killing(
        _ target: Target,
        _ site: TestSite,
        _ settings: Settings,
        _ control: SimulatorControl,
        of work: Int64?,
        delivery: Int64? = nil
    ) async throws -> FleetReport {
        let before = try await report(control)
        let total = work ?? before.registered
        var done = 0 as Int64
        var killed = 0 as Int64
        try await eventually("the devices' requests", within: Self.limit) {
            let now = try await report(control)
            done =
                work == nil
                ? now.received + now.failed - before.failed : now.registered + now.failed - before.failed
            if killed < Self.kills, done >= (killed + 1) * total / (Self.kills + 2) {
                killed += 1
                try await kill(target, site, settings)
            }
            guard now.waiting == 0, killed == Self.kills else { return false }
            guard let delivery else { return done >= total }
            let progress = try? await StoreSession.run(settings, role: "test") { store in
                try await store.deliveryProgress(delivery)
            }
            return progress?.state.isFinal == true
        }
        #expect(killed == Self.kills, "\(done) of \(total) were done")
        // A receipt may leave its gateway after the last answer.
        try await eventually("the last requests", within: Self.limit) { try await report(control).waiting == 0 }
        return try await report(control)
    }

    private func kill(_ target: Target, _ site: TestSite, _ settings: Settings) async throws {
        switch target {
        case .web:
            try await site.web.kill()
            _ = try await site.startWeb(settings)
        case .postgres:
            let file = try String(contentsOfFile: site.cluster.data + "/postmaster.pid", encoding: .utf8)
            let server = try #require(file.split(separator: "\n").first.flatMap { pid_t($0) })
            #expect(Foundation.kill(server, SIGKILL) == 0)
            try await eventually("the server's end", within: Self.limit) { await !site.cluster.isRunning() }
            // The server's children need time to notice it, and until then no other server can start.
            try await eventually("PostgreSQL", within: Self.limit) {
                (try? await site.cluster.start()) != nil
            }
        }
    }

    private func report(_ control: SimulatorControl) async throws -> FleetReport {
        try JSONBody.decode(FleetReport.self, from: try await control.get("/fleet"))
    }
}
