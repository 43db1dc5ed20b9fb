import Administration
import Foundation
import LaboratoryStore
import PostgresClient
import PushCore
import Store

/// A sample delivery with all processes it needs.
struct Quickstart: Sendable {
    /// The maximum number of children: one for each platform.
    private static let children = 2
    /// If no message is resolved for this long, something is wrong.
    private static let timeout = Duration.seconds(120)

    let site: TestSite
    let messages: Int64
    /// Whether to print only one line of JSON.
    let json: Bool
    /// Whether to leave everything running at the end.
    let detach: Bool
    /// Whether to delete whatever an earlier run has left.
    let fresh: Bool

    private static let label = "Quickstart"
    /// The simulated devices register as person-1, person-2, …
    private static let userKeyPrefix = "person-"

    /// Runs the sample delivery.
    ///
    /// - Returns: Whether nothing was lost, duplicated or left over.
    func run() async throws -> Bool {
        // This check comes before anything that would stop or remove an existing site.
        try await site.requireSampleOnly(sample, fresh: fresh)
        do {
            let result = try await deliver()
            StandardOutput.line(json ? result.json : result.text(site))
            if !site.cluster.hasOwnDataFolder {
                StandardError.write(
                    "PostgreSQL's user \(site.cluster.user?.name ?? "") may not enter \(site.folder), so the database "
                        + "is in \(site.cluster.dataFolder): to remove the site, remove both, or choose another "
                        + "--folder.\n"
                )
            }
            if detach {
                tell("Everything stays running. `./Deploy/quickstart stop --folder \(site.folder)` stops it.")
                return result.isClean
            }
            if !json, StandardOutput.isTerminal {
                tell("Everything is still running for you to look at. Ctrl-C stops it.")
                await untilCancelled()
            }
            try await stopSite()
            return result.isClean
        } catch {
            // The user pressed Ctrl-C, or something failed; either way nothing is left running.
            try? await stopSite()
            throw error
        }
    }

    private var sample: TestContents {
        TestContents(
            service: TestAudience.samplePrefix,
            deliveryLabel: Self.label,
            userKeyPrefix: Self.userKeyPrefix,
            consoleUser: SiteConsole.firstUser
        )
    }

    private func deliver() async throws -> QuickstartResult {
        tell(
            "Starting PostgreSQL, the gateway simulator, a supervisor, a feedback worker, a web process and a console "
                + "in \(site.folder)"
        )
        try await site.prepare()
        var metrics = MetricsSettings()
        metrics.supervisorPort = try await FreePort.any()
        metrics.feedbackPort = try await FreePort.any()
        metrics.webPort = try await FreePort.any()
        metrics.consolePort = try await FreePort.any()
        let settings = try site.writeSettings(
            children: Self.children,
            webPort: try await FreePort.any(),
            consolePort: try await FreePort.any(),
            metrics: metrics
        )
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.startSimulator()
        try await site.startSupervisor()
        try await site.startFeedback()
        let base = try await site.startWeb(settings)
        let console = try await SiteConsole.open(site, settings)
        return try await StoreSession.run(settings, role: "quickstart") { store in
            let audience = TestAudience(store: store, settings: settings, simulator: simulator)
            let names = try await audience.create()
            let applications = try await store.registrableApplications().filter { names.contains($0.name) }
            let devices = TestDevices(site: site, control: SimulatorControl(simulator))
            tell("Registering \(messages) simulated devices at \(base)")
            try await devices.register(applications, count: messages, at: settings.web.port)
            let progress = try await send(store, to: names)
            let reports = try await devices.reports()
            return QuickstartResult(
                progress: progress,
                count: try await site.counters(simulator),
                reports: reports,
                tracked: try await store.firstHits(delivery: progress.id),
                messages: messages,
                seconds: try await store.secondsToLastOutcome(delivery: progress.id) ?? 0,
                database: site.database,
                web: base,
                console: console,
                metrics: "http://\(settings.metrics.address):\(settings.metrics.supervisorPort)",
                applications: applications
            )
        }
    }

    private func send(_ store: Store, to applications: [String]) async throws -> DeliveryProgress {
        let id = try await store.createDelivery(
            NewDelivery(label: Self.label, applications: applications, content: TestAudience.content)
        )
        try await store.startDelivery(id)
        tell("Delivery \(id) started. Its counters: psql \"\(site.database)\" -c 'TABLE pushmta.delivery_progress'")
        let watch = DeliveryWatch(store: store, id: id, isQuiet: json, timeout: Self.timeout) {
            try site.checkProcesses(withDevices: true, withConsole: true)
        }
        return try await watch.untilOver()
    }

    /// Stops everything, in a detached task, so that it also completes when this task is cancelled.
    private func stopSite() async throws {
        let site = site
        try await Task.detached { try await site.stop() }.value
    }

    private func untilCancelled() async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    }

    private func tell(_ text: String) {
        if !json { StandardError.write(text + "\n") }
    }
}

/// The sample delivery's result, as counted by the database and by the simulator.
struct QuickstartResult: Sendable {
    /// The database's counts.
    let progress: DeliveryProgress
    let count: SimulatorCount
    /// The simulated devices' reports to the web process.
    let reports: FleetReport
    /// Receipts and clicks in the database, at most one of each per message.
    let tracked: FirstHits
    /// The number of requested messages.
    let messages: Int64
    /// Seconds from the start of the delivery to its last stored outcome; 0 if it is not over.
    let seconds: Double
    /// The database's connection string.
    let database: String
    /// The base address of the web process.
    let web: String
    let console: SiteConsole
    /// The base address of the supervisor's metrics.
    let metrics: String
    /// The applications that devices can register with.
    let applications: [RegistrableApplication]

    /// The number of messages that no gateway accepted and that the database has not resolved otherwise.
    var lost: Int64 {
        let resolvedOtherwise = progress.target - progress.sent - progress.pending - progress.unknown
        return max(0, messages - count.accepted - resolvedOtherwise)
    }

    /// Whether nothing was lost, duplicated or left over, and both counts agree.
    var isClean: Bool {
        lost == 0 && count.duplicates == 0 && progress.pending == 0 && progress.state == .finished
            && progress.sent == count.accepted && progress.target == messages && reports.failed == 0
            && tracked.received == count.accepted && tracked.clicked == reports.clicked
    }

    /// One line for programs.
    var json: String {
        Cell.object([
            ("accepted", .integer(count.accepted)), ("failed", .integer(progress.failed)), ("lost", .integer(lost)),
            ("duplicates", .integer(count.duplicates)), ("apns", .integer(count.apns.uniqueAccepted)),
            ("fcm", .integer(count.fcm.uniqueAccepted)), ("seconds", .number(seconds)), ("database", .text(database)),
            ("web", .text(web)), ("applications", .list(applications.map(Self.cell))),
            ("received", .integer(tracked.received)), ("clicked", .integer(tracked.clicked)),
            ("console", .text(console.address)), ("consoleUser", .text(SiteConsole.firstUser)),
            ("consolePassword", .text(console.password)),
        ]).json
    }

    private static func cell(_ application: RegistrableApplication) -> Cell {
        .object([
            ("platform", .text(application.platform.rawValue)), ("integrationKey", .text(application.integrationKey)),
        ])
    }

    /// A text for users: what happened, and where to look.
    func text(_ site: TestSite) -> String {
        let rate = seconds > 0 ? Int(Double(progress.target) / seconds) : 0
        return """

            \(count.accepted) accepted (APNs \(count.apns.uniqueAccepted), FCM \(count.fcm.uniqueAccepted)), \
            \(progress.failed) failed, \(lost) lost, \(count.duplicates) duplicates according to the simulator
            \(progress.sent) sent, \(progress.pending) pending, delivery \(progress.state.rawValue), according to the database\
            \(progress.stateReason.isEmpty ? "" : ": " + progress.stateReason)
            \(tracked.received) received and \(tracked.clicked) clicked, as reported by the devices\
            \(reports.failed == 0 ? "" : "; \(reports.failed) of their requests failed")
            \(Cell.number(seconds).shown) s from the start to the last stored outcome: \(rate) messages a second

            Look at it in a browser: \(console.address)/
              sign in as \(SiteConsole.firstUser) with the one-time password \(console.password), and choose your own

            Look at it in a terminal:
              psql "\(database)"
                TABLE pushmta.delivery_progress;
                TABLE pushmta.message_status LIMIT 10;
                TABLE pushmta.mta_child;
              curl \(web)/health/ready
              curl \(metrics)/metrics
              logs: \(site.folder)/log
              \(site.programs.pushmta) status --config \(site.settingsFile)

            """
    }
}
