import Foundation
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A cluster, a simulator, a supervisor and an application with subscribers, for tests of deliveries.
struct DeliverySite: Sendable {
    /// Far longer than anything takes, as the machine may be busy.
    static let limit = Duration.seconds(60)

    /// The processes.
    let testSite: TestSite
    /// Its database.
    let store: Store
    /// Creates applications and subscribers.
    let audience: TestAudience
    /// The settings of its processes.
    let settings: Settings
    /// The gateways.
    let simulator: SimulatorReport
    /// The name of the first application, which is also that of its account.
    let application: String

    /// Runs `body` with its own site and removes the site afterwards.
    ///
    /// - Parameter poolPeriod: the seconds between two looks of a supervisor without work. Token events wait for such a
    ///   look.
    /// - Parameter configure: changes settings before the processes start.
    /// - Parameter pooling: its processes and this test reach the database through a pgbouncer in this mode.
    static func with(
        subscribers: Int64 = 50,
        children: Int = 4,
        poolPeriod: Int = MasterSettings().dataBasePoolPeriodSec,
        configure: (inout Settings) -> Void = { _ in },
        pooling: TestPooler.Mode? = nil,
        _ body: (DeliverySite) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let beside = URL(fileURLWithPath: try Program.pushmta().path).deletingLastPathComponent().path
        let testSite = try TestSite(folder: folder.path + "/site", programs: beside)
        var pooler: TestPooler?
        defer { pooler?.stop() }
        do {
            try await testSite.prepare()
            var settings = try testSite.writeSettings(children: children)
            if let pooling {
                let server = (testSite.cluster.folder, testSite.cluster.port, PrivateCluster.role)
                let made = try await TestPooler(pooling, to: server)
                settings.database.url = made.connectionString(database: TestSite.databaseName)
                pooler = made
            }
            settings.mta.master.dataBasePoolPeriodSec = poolPeriod
            configure(&settings)
            try testSite.host.write(settings)
            _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
            let simulator = try await testSite.startSimulator()
            try await testSite.startSupervisor()
            try await StoreSession.run(settings, role: "test") { store in
                let audience = TestAudience(store: store, settings: settings, simulator: simulator)
                let names = try await audience.create([.ios])
                try await audience.seed(names, count: subscribers)
                try await body(
                    DeliverySite(
                        testSite: testSite,
                        store: store,
                        audience: audience,
                        settings: settings,
                        simulator: simulator,
                        application: names[0]
                    )
                )
            }
        } catch {
            print("The supervisor's log ends with:\n\(testSite.host.supervisor.logTail(lines: 40))")
            try? await testSite.stop()
            try? testSite.remove()
            throw error
        }
        try await testSite.stop()
        try testSite.remove()
    }

    /// Starts a delivery to an application.
    func send(_ content: String = #"{"ios":{"title":"Hello"}}"#, to application: String) async throws -> Int64 {
        let id = try await store.createDelivery(
            NewDelivery(label: application, applications: [application], content: content)
        )
        try await store.startDelivery(id)
        return id
    }

    /// Adds another application with subscribers.
    func add(_ name: String, account: String) async throws -> String {
        let new = NewApplication(
            service: audience.prefix,
            name: name,
            platform: .ios,
            integrationKey: name,
            bundleID: simulator.credentials.apns.topics[0],
            account: account
        )
        _ = try await store.createApplication(new)
        try await audience.seed([name], count: 20)
        return name
    }

    /// Makes the simulated gateways accept few streams at a time and answer late, so that a delivery lasts.
    func slowDown(streams: Int, milliseconds: Int) async throws {
        let plan = #"{"max_concurrent_streams":\#(streams),"latency":{"fixed":\#(milliseconds)}}"#
        try await SimulatorControl(simulator).post("/faults", plan)
    }

    /// Runs a command of the product with the site's settings.
    @discardableResult
    func run(_ arguments: String..., expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await Program.pushmta().run(arguments + ["--config", testSite.settingsFile])
        #expect(ending.status == status, "\(arguments): \(ending.output) \(ending.errors)")
        return ending
    }

    /// Waits until a delivery's counts meet a condition, and returns them.
    func progress(
        _ id: Int64,
        within limit: Duration = Self.limit,
        until isReached: (DeliveryProgress) -> Bool = { $0.state.isFinal || $0.state == .editing }
    ) async throws -> DeliveryProgress {
        var last = try await store.deliveryProgress(id)
        try await wait("delivery \(id)", within: limit) {
            last = try await store.deliveryProgress(id)
            return isReached(last)
        }
        return last
    }

    /// Waits until a condition holds.
    func wait(
        _ label: String = "the site",
        within limit: Duration = Self.limit,
        _ condition: () async throws -> Bool
    ) async throws {
        try await eventually(label, within: limit, condition)
    }
}
