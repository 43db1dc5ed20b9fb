import MetricsEndpoint
import OperatingSystem
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization
import SystemPackage

/// The number of alarms at a look.
struct AlarmReading: Sendable {
    struct Kind: Sendable, Hashable {
        let code: String
        let severity: String
    }

    /// Every kind seen so far, so that one that has ended shows as 0.
    let counts: [Kind: Int]
    let at: ContinuousClock.Instant

    init(_ alarms: [AlarmRow], locks: Int, at: ContinuousClock.Instant, before: AlarmReading?) {
        var counts = (before?.counts ?? [:]).mapValues { _ in 0 }
        for alarm in alarms { counts[Kind(code: alarm.code, severity: alarm.severity.rawValue), default: 0] += 1 }
        // A session that this process has seen blocking for long enough is an alarm, even if the database cannot tell
        // since when.
        let held = Kind(code: "lock_held", severity: AlarmRow.Severity.critical.rawValue)
        if locks > 0 || counts[held] != nil { counts[held] = max(locks, counts[held] ?? 0) }
        self.counts = counts
        self.at = at
    }
}

/// The metrics page of a supervisor and its children, built from memory when it is requested.
extension SupervisorLoop {
    /// Prometheus scrapes every 15 s or less often, so each scrape gets figures read after the one before.
    static let figuresInterval = Duration.seconds(10)
    /// Older figures are left out: they would suggest that all is well.
    private static let maxAge = Duration.seconds(60)

    var servesMetrics: Bool { settings.withLock { $0.metrics.supervisorPort > 0 } }

    /// Serves the page until cancelled, if it is enabled.
    func serveMetrics() async {
        let metrics = settings.withLock(\.metrics)
        await MetricsServer.serve(
            at: metrics.address,
            port: metrics.supervisorPort,
            setting: "metrics.supervisorPort",
            logger: logger
        ) { self.metricsPage() }
    }

    /// Reads the metrics about the database.
    func readFigures(_ store: Store) async throws {
        let start = ContinuousClock.now
        let figures = try await store.engineFigures()
        let now = ContinuousClock.now
        condition.reading.withLock { $0 = EngineReading(figures, at: now, time: now - start, before: $0) }
    }

    /// Reads the alarms separately, so that they are available while tables are locked.
    func readAlarms(_ store: Store) async throws {
        let rows = try await store.alarms()
        let locks = condition.locks.withLock(\.held)
        condition.alarms.withLock { $0 = AlarmReading(rows, locks: locks, at: .now, before: $0) }
    }

    /// Takes the metrics in an event.
    func noteFigures(_ event: SupervisorEvent) {
        guard case .childStatus(let generation, let status) = event, let kind = registry[generation]?.kind else {
            return
        }
        registry.totals.heard(generation, kind, status)
    }

    func metricsPage() -> String {
        var page = MetricsPage()
        let condition = condition.current
        let reading = self.condition.reading.withLock { $0 }
        page.addProcess(
            "supervisor",
            version: settings.withLock(\.version),
            isDatabaseUp: condition.isDatabaseAvailable && self.condition.pulse.isUp()
        )
        let names = reading.map {
            Dictionary($0.figures.applications.map { ($0.id, $0.name) }, uniquingKeysWith: { $1 })
        }
        addChildren(&page, names ?? [:])
        addHost(&page, condition)
        if let alarms = self.condition.alarms.withLock({ $0 }), ContinuousClock.now - alarms.at <= Self.maxAge {
            for (kind, count) in alarms.counts.sorted(by: {
                ($0.key.code, $0.key.severity) < ($1.key.code, $1.key.severity)
            }) {
                page.add(.alarms, count, kind.code, kind.severity)
            }
        }
        if let reading {
            let age = ContinuousClock.now - reading.at
            page.add(.figuresAge, age / .seconds(1))
            if age <= Self.maxAge { add(reading, &page) }
        }
        return page.text
    }

    private func addHost(_ page: inout MetricsPage, _ values: HostCondition.Values) {
        page.add(.maxChildren, values.maxChildren)
        page.add(.throttledKinds, values.throttled.count)
        page.add(.claiming, values.isClaiming)
        page.add(.journalBytes, journalBytes())
        page.add(.journalDiskFree, Machine.freeBytes(at: folder.path.string))
        page.add(.journalWritable, values.journalTrouble == nil)
        page.add(.journalsPutAside, values.journalsPutAside.count)
        page.add(.journalReplayed, values.journalReplayed)
    }

    private func journalBytes() -> Int64 {
        let ids = (try? folder.childrenWithJournals()) ?? []
        return ids.reduce(0) { $0 + Machine.fileBytes(at: folder.journal(ofChild: $1).string) }
    }

    private func add(_ reading: EngineReading, _ page: inout MetricsPage) {
        let figures = reading.figures
        page.add(.figuresSeconds, reading.time / .seconds(1))
        for health in ["alive", "late", "gone", "stopped"] {
            page.add(.hosts, figures.hosts.count { $0.health == health }, health)
        }
        // If this host's own heartbeats do not arrive, for example at a read-only server, others' do not either.
        let hears = figures.hosts.contains { $0.id == folder.hostID.lowercased() && $0.health == "alive" }
        // Several hosts may share a name: one started with a new journal folder replaces the one before.
        let running = Dictionary(grouping: figures.hosts.filter { $0.health != "stopped" }, by: \.name)
        for (name, hosts) in running.sorted(by: { $0.key < $1.key }) {
            page.add(.hostGone, hears && hosts.contains { $0.health == "gone" && !$0.isReplaced }, name)
        }
        for application in figures.applications {
            let name = application.name
            page.add(.circuit, application.isCircuitOpen, name)
            page.add(.rateHolds, application.isRateInUse, name)
            if let connector = application.connector {
                page.add(.trouble, application.trouble.rawValue, name, connector.rawValue)
            }
            if let seconds = application.credentialSeconds { page.add(.credentialExpiry, seconds, name) }
            for isTransactional in [true, false] {
                let queue = figures.queues.first { $0.application == name && $0.isTransactional == isTransactional }
                let lane = isTransactional ? "transactional" : "bulk"
                page.add(.readyMessages, queue?.messages ?? 0, name, lane)
                page.add(.claimedMessages, queue?.claimed ?? 0, name, lane)
                page.add(.queueAge, queue?.oldestSeconds ?? 0, name, lane)
            }
        }
        for (quota, ratio) in reading.usedRatios.sorted(by: {
            ($0.key.scope, $0.key.name) < ($1.key.scope, $1.key.name)
        }) {
            page.add(.quota, ratio, quota.scope, quota.name)
        }
        for (state, count) in figures.deliveries { page.add(.deliveries, count, state) }
        page.add(.feedbackActing, figures.isFeedbackActing)
        page.add(.tokenEventAge, figures.tokenEventSeconds)
        page.add(.retentionHolds, figures.retentionHolds)
        page.add(.eventLag, figures.eventLagSeconds)
        for replica in figures.database.replicas { page.add(.replicationLag, replica.lagSeconds, replica.name) }
        page.add(.replicas, figures.database.replicas.count(where: \.isSynchronous), "yes")
        page.add(.replicas, figures.database.replicas.count { !$0.isSynchronous }, "no")
        page.add(.oldestSnapshot, figures.database.oldestSnapshotSeconds)
        for (table, rows) in figures.database.deadRows.sorted(by: { $0.key < $1.key }) {
            page.add(.deadRows, rows, table)
        }
    }
}

/// The metrics of the children.
extension SupervisorLoop {
    /// The labels of one series: kinds of an application that differ only in the account share it.
    private struct Place: Hashable, Comparable {
        var application: String
        var gateway: String

        static func < (left: Place, right: Place) -> Bool {
            (left.application, left.gateway) < (right.application, right.gateway)
        }
    }

    /// The current state of a series' running children.
    private struct Present {
        var inFlight = 0
        var connections = 0
        var window = 0
        var parts = 0
        var residentBytes: Int64 = 0
        var states: [ChildState: Int] = [:]
    }

    /// Adds the children of applications whose names are known.
    private func addChildren(_ page: inout MetricsPage, _ names: [Int32: String]) {
        let values = registry.totals.current
        let place: (ChildKind) -> Place? = { kind in
            names[kind.applicationID].map { Place(application: $0, gateway: kind.connector.rawValue) }
        }
        var sums: [Place: [ChildTotals.Sums]] = [:]
        var present: [Place: Present] = [:]
        for (kind, sum) in values.sums {
            guard let place = place(kind) else { continue }
            sums[place, default: []].append(sum)
            present[place] = Present()
        }
        for (kind, status) in values.last.values {
            guard let place = place(kind) else { continue }
            var here = present[place] ?? Present()
            let report = status.report
            here.inFlight += report.inFlight
            here.parts += report.partsHeld
            here.connections += Int(report.connections.open)
            here.window += Int(report.connections.dispatchWindow)
            here.residentBytes += report.residentBytes
            here.states[report.state, default: 0] += 1
            present[place] = here
        }
        for (place, sums) in sums.sorted(by: { $0.key < $1.key }) { add(sums, place, &page) }
        for (place, here) in present.sorted(by: { $0.key < $1.key }) { add(here, place, &page) }
        for (operation, times) in values.database.all {
            page.add(
                .databaseSeconds,
                bounds: SecondsHistogram.bounds,
                counts: times.counts,
                sum: times.seconds,
                operation
            )
        }
        for reason in ChildExitReason.allCases {
            page.add(.childrenEnded, values.ended[reason] ?? 0, reason.rawValue)
        }
    }

    private func add(_ sums: [ChildTotals.Sums], _ place: Place, _ page: inout MetricsPage) {
        let (name, gateway) = (place.application, place.gateway)
        var messages: [ChildTotals.OutcomeKey: Int64] = [:]
        var times = SecondsHistogram()
        var waits = SecondsHistogram()
        for sum in sums {
            messages.merge(sum.messages, uniquingKeysWith: +)
            times.add(sum.gateway, since: SecondsHistogram())
            waits.add(sum.waits, since: SecondsHistogram())
        }
        // Present from the start, so that the first failure is an increase.
        for outcome in ["sent", "failed"] {
            let key = ChildTotals.OutcomeKey(outcome: outcome, reasonClass: outcome == "sent" ? "none" : "user_unknown")
            messages[key] = messages[key] ?? 0
        }
        let ordered = messages.sorted { ($0.key.outcome, $0.key.reasonClass) < ($1.key.outcome, $1.key.reasonClass) }
        for (key, count) in ordered { page.add(.messages, count, name, gateway, key.outcome, key.reasonClass) }
        let counts = sums.reduce(ChildCounts()) { $0 + $1.counts }
        page.add(.retries, counts.retried, name, gateway)
        page.add(.ambiguous, counts.unknown, name, gateway, "unknown")
        page.add(.ambiguous, counts.resentAfterAmbiguity, name, gateway, "resent")
        page.add(.late, counts.lateOutcomes, name, gateway)
        for count in ChildCounts.all where count.isEvent {
            page.add(.childEvents, counts[keyPath: count.path], name, gateway, count.name)
        }
        page.add(.childCPU, sums.reduce(0) { $0 + $1.cpuSeconds }, name, gateway)
        page.add(
            .messageSeconds,
            bounds: SecondsHistogram.bounds,
            counts: waits.counts,
            sum: waits.seconds,
            name,
            gateway
        )
        page.add(
            .gatewaySeconds,
            bounds: SecondsHistogram.bounds,
            counts: times.counts,
            sum: times.seconds,
            name,
            gateway
        )
    }

    private func add(_ here: Present, _ place: Place, _ page: inout MetricsPage) {
        let (name, gateway) = (place.application, place.gateway)
        page.add(.inFlight, here.inFlight, name, gateway)
        page.add(.connections, here.connections, name, gateway)
        page.add(.window, here.window, name, gateway)
        page.add(.partsHeld, here.parts, name, gateway)
        page.add(.childMemory, here.residentBytes, name, gateway)
        for state in ChildState.allCases where state != .exited {
            page.add(.children, here.states[state] ?? 0, name, gateway, state.rawValue)
        }
    }
}
