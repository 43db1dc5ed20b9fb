import PushCore

/// A child as the database knows it.
package struct ChildOverview: Sendable {
    /// The state of a child, as in the column `state` of `pushmta.mta_child`.
    package enum State: String, Sendable, CaseIterable {
        case starting, idle, working, draining, exited
    }

    /// The id of its row, the owner of the parts that it claims.
    package let id: Int64
    /// Where it runs and what it serves.
    package let row: ChildRow
    package var state: State
    package var report: ChildReport
    /// When its row was created.
    package let startedAt: DatabaseTime
    /// Seconds since its last report, on the database's clock.
    package let heartbeatAgeSeconds: Double
    /// Why it ended, by the supervisor's names of reasons; nil while it runs.
    package let exitReason: String?
    /// More about its end, "" if nothing.
    package let exitDetail: String
    /// The tail of its standard error.
    package let stderrTail: String
    /// `alive`, `late` (no report for 5 s), `gone` (none for 15 s) or `exited`.
    package let health: String
    /// Outcomes that came from its journal after its death.
    package let journalReplayed: Int64
    /// The name of its application, "" if it was deleted.
    package let applicationName: String
    /// The name of its account, "" if it was deleted.
    package let accountName: String
    /// Whether an operator asked for it to be replaced.
    package let isRecycleRequested: Bool

    package init(
        id: Int64,
        row: ChildRow,
        state: State = .working,
        report: ChildReport,
        startedAt: DatabaseTime,
        heartbeatAgeSeconds: Double,
        exitReason: String?,
        exitDetail: String,
        stderrTail: String,
        health: String = "alive",
        journalReplayed: Int64 = 0,
        applicationName: String = "",
        accountName: String = "",
        isRecycleRequested: Bool = false
    ) {
        self.id = id
        self.row = row
        self.state = state
        self.report = report
        self.startedAt = startedAt
        self.heartbeatAgeSeconds = heartbeatAgeSeconds
        self.exitReason = exitReason
        self.exitDetail = exitDetail
        self.stderrTail = stderrTail
        self.health = health
        self.journalReplayed = journalReplayed
        self.applicationName = applicationName
        self.accountName = accountName
        self.isRecycleRequested = isRecycleRequested
    }
}

extension ChildOverview {
    /// A gateway is slow if half of its answers take this long: Apple's and Google's need a tenth of it.
    static let slowAnswerMilliseconds = 1_000

    /// Whether only the slow answers of its gateway keep it from sending faster.
    package var waitsForSlowGateway: Bool {
        report.connections.limitedBy == .connections
            && report.latencyP50Milliseconds >= Double(Self.slowAnswerMilliseconds)
    }
}

extension [ChildOverview] {
    /// The applications whose slow gateways limit a delivery, by delivery; from the reports of the children that send
    /// it.
    package var slowGateways: [Int64: [String]] {
        filter(\.waitsForSlowGateway).reduce(into: [:]) { slow, child in
            guard let delivery = child.report.deliveryID else { return }
            if slow[delivery]?.contains(child.applicationName) != true {
                slow[delivery, default: []].append(child.applicationName)
            }
        }
    }
}
