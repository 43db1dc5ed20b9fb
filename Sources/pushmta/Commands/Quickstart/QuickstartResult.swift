import PushCore
import Store

/// What became of the sample delivery, by the database's count and by the simulator's.
struct QuickstartResult: Sendable {
    /// The database's counts.
    let progress: DeliveryProgress
    /// The simulator's counts.
    let count: SimulatorCount
    /// What the simulated devices have told the web process.
    let reports: FleetReport
    /// Receipts and clicks as the database knows them, one of each for a message.
    let tracked: FirstHits
    /// The messages that were asked for.
    let messages: Int64
    /// From the start of the delivery to its last stored outcome; 0 if it is not over.
    let seconds: Double
    /// The database's connection string.
    let database: String
    /// The base address of the web process.
    let web: String
    /// The applications that devices can register with.
    let applications: [RegistrableApplication]

    /// Messages that neither a gateway accepted nor the database knows as settled otherwise.
    var lost: Int64 {
        let settledOtherwise = progress.target - progress.sent - progress.pending - progress.unknown
        return max(0, messages - count.accepted - settledOtherwise)
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
        ]).json
    }

    private static func cell(_ application: RegistrableApplication) -> Cell {
        .object([
            ("platform", .text(application.platform.rawValue)), ("integrationKey", .text(application.integrationKey)),
        ])
    }

    /// For people: what happened and where to look.
    func text(_ site: TrialSite) -> String {
        let rate = seconds > 0 ? Int(Double(progress.target) / seconds) : 0
        return """

            \(count.accepted) accepted (APNs \(count.apns.uniqueAccepted), FCM \(count.fcm.uniqueAccepted)), \
            \(progress.failed) failed, \(lost) lost, \(count.duplicates) duplicates, as the simulator counts
            \(progress.sent) sent, \(progress.pending) pending, delivery \(progress.state.rawValue), as the database says\
            \(progress.stateReason.isEmpty ? "" : ": " + progress.stateReason)
            \(tracked.received) received and \(tracked.clicked) clicked, as the devices told the web process\
            \(reports.failed == 0 ? "" : "; \(reports.failed) of their requests failed")
            \(Cell.number(seconds).shown) s from the start to the last stored outcome: \(rate) messages a second

            Look at it:
              psql "\(database)"
                TABLE pushmta.delivery_progress;
                TABLE pushmta.message_status LIMIT 10;
                TABLE pushmta.mta_child;
              curl \(web)/health/ready
              logs: \(site.folder)/log
              \(site.programs.pushmta) status --config \(site.settingsFile)

            """
    }
}
