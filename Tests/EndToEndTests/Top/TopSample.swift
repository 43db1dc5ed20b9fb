import PushCore

@testable import Administration
@testable import Store
@testable import pushmta

/// Rows as the database returns them, for `pushmta top`.
enum TopSample {
    static func host(_ name: String, health: String = "alive", alarm: String = "") -> HostRow {
        HostRow(
            report: HostReport(
                id: "id-of-\(name)",
                name: name,
                pid: 1,
                version: "1.0",
                schemaVersion: 1,
                state: .running,
                journalFolder: "/nowhere",
                children: 2,
                maxChildren: 8,
                load: 1.5,
                residentBytes: 64 << 20,
                alarm: alarm
            ),
            startedAt: DatabaseTime(microsecondsSince1970: 0),
            heartbeatAgeSeconds: health == "alive" ? 1 : 100,
            health: health
        )
    }

    static func child(
        _ id: Int64,
        on host: String,
        _ application: String,
        rate: Double = 0,
        failed: Int64 = 0,
        health: String = "alive",
        waitsForGateway: Bool = false
    ) -> ChildOverview {
        var report = ChildReport(pid: Int32(id), state: .sending)
        report.deliveryID = 7
        (report.rate, report.counts.failed) = (rate, failed)
        if waitsForGateway {
            report.connections.limitedBy = .connections
            report.latencyP50Milliseconds = 1_500
        }
        return ChildOverview(
            id: id,
            row: ChildRow(
                hostID: "id-of-\(host)",
                generation: 1,
                applicationID: 1,
                accountID: 1,
                connector: .iosHTTP2
            ),
            report: report,
            startedAt: DatabaseTime(microsecondsSince1970: 0),
            heartbeatAgeSeconds: 0,
            exitReason: nil,
            exitDetail: "",
            stderrTail: "",
            health: health,
            applicationName: application,
            accountName: "apns"
        )
    }

    static func application(_ name: String, _ state: CircuitState = .closed, reason: String = "") -> CircuitRow {
        CircuitRow(
            application: name,
            platform: .ios,
            environment: .production,
            health: ApplicationHealthRow(
                applicationID: 1,
                state: state,
                reason: reason,
                remedy: "",
                probes: 0,
                openedAt: nil,
                nextProbeInSeconds: nil,
                tokenEffectsHeld: false
            )
        )
    }

    static func queue(_ application: String, ready: Int64, claimed: Int64 = 0, reason: String = "")
        -> QueueRow
    {
        QueueRow(
            application: application,
            account: "apns",
            connector: .iosHTTP2,
            ready: ready,
            readyByAge: [ready, 0, 0, 0, 0],
            oldestSeconds: 3,
            claimed: claimed,
            waitingReason: reason
        )
    }

    static func delivery(_ id: Int64, sent: Int64, target: Int64 = 1_000, second: Int64 = 0, label: String = "Sale")
        -> DeliveryProgress
    {
        DeliveryProgress(
            id: id,
            label: label,
            state: .inProgress,
            stateReason: "",
            target: target,
            excluded: 0,
            pending: target - sent,
            sent: sent,
            failed: 0,
            ignored: 0,
            notApplicable: 0,
            canceled: 0,
            unknown: 0,
            lateOutcomes: 0,
            resentAfterAmbiguity: 0,
            journalReplayed: 0,
            partsReady: 0,
            partsClaimed: 0,
            partsWaiting: 0,
            partsDone: 0,
            prepared: true,
            startedAt: nil,
            finishedAt: nil,
            now: DatabaseTime(microsecondsSince1970: second * 1_000_000)
        )
    }

    static let alarm = AlarmRow(
        severity: .critical,
        code: "circuit_open",
        subjectKind: "application",
        subject: "shop-ios",
        text: "its circuit is open",
        remedy: "set another key"
    )

    /// A reading with this cost for the database.
    static func reading(_ content: TopReading.Content, cost: Duration = .milliseconds(1)) -> TopReading {
        TopReading(content: content, cost: cost, time: DatabaseTime(microsecondsSince1970: 3_661_000_000))
    }

    /// Two hosts, three children, two applications, a delivery, an alarm.
    static func readings(second: Int64 = 0) -> [TopReading] {
        [
            reading(
                .processes(
                    [host("alpha"), host("beta", health: "gone")],
                    [
                        child(1, on: "alpha", "shop-ios", rate: 100), child(2, on: "alpha", "shop-android", rate: 400),
                        child(3, on: "beta", "shop-ios", rate: 50, failed: 9, health: "gone"),
                    ]
                )
            ),
            reading(
                .queues(
                    [application("shop-android"), application("shop-ios", .open, reason: "APNs answered 403")],
                    [queue("shop-ios", ready: 77, reason: "the circuit is open")]
                )
            ),
            reading(.deliveries([delivery(7, sent: 100 * second, second: second)], isCut: false)),
            reading(.alarms([alarm])),
        ]
    }

    /// A state that has read them.
    static func state(columns: Int = 80, lines: Int = 24, looks: Int64 = 2, at now: ContinuousClock.Instant = .now)
        -> TopState
    {
        var state = TopState(size: TerminalSize(columns: columns, lines: lines), interval: .seconds(1))
        for look in 0..<looks { _ = state.handle(.figures(readings(second: look)), at: now) }
        return state
    }
}
