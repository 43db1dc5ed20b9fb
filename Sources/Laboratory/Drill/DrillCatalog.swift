import Administration
import PushCore

enum DrillCatalog {
    /// The name that selects every drill.
    static let everything = "all"
    /// The name that selects the short set: drills that take seconds and check no times.
    static let short = "short"
    /// The default number of messages in a delivery of the short set: enough that faults land in the middle of it. When
    /// it is over, another delivery follows.
    static let shortMessages: Int64 = 30_000

    /// All drills, in the order in which `all` runs them.
    static var all: [any Drill] { processes + crashes + gateways + databases + hosts + highAvailability }

    /// The drill with this name.
    ///
    /// - Throws: `CommandFailure` that lists all drills.
    static func drill(named name: String) throws -> any Drill {
        if let drill = all.first(where: { $0.name == name }) { return drill }
        throw CommandFailure(
            .data,
            "There is no drill \(name). The drills are: \(all.map(\.name).joined(separator: ", "))"
        )
    }

    /// Why a drill cannot run with this build or this gateway; `nil` if it can.
    static func impossibility(_ drill: any Drill, hasSimulator: Bool, hasCrashPoints: Bool) -> String? {
        let obstacles = drill.needs.filter(\.isOfConstruction).compactMap {
            $0.obstacle(hasSimulator: hasSimulator, hasCrashPoints: hasCrashPoints)
        }
        return obstacles.isEmpty ? nil : obstacles.joined(separator: "; ")
    }

    /// The drills that a command-line argument selects: a drill's name, `all`, or `short`.
    static func drills(for word: String) throws -> [any Drill] {
        switch word {
        case everything: all
        case short: all.filter(\.isShort)
        default: [try drill(named: word)]
        }
    }
}

extension DrillCatalog {
    /// Drills that kill or stop processes.
    static let processes: [any Drill] = [
        KillChildrenDrill(policy: .resend), KillChildrenDrill(policy: .report), KillSupervisorDrill(), KillAllDrill(),
        StopChildDrill(hasUsualLease: false), StopChildDrill(hasUsualLease: true), JournalDiskFullDrill(),
    ]
}

extension DrillCatalog {
    /// Drills with database failures.
    static let databases: [any Drill] = [
        PostgresStopDrill(mode: .fast), PostgresStopDrill(mode: .immediate), BackendsTerminatedDrill(),
        ConnectionsExhaustedDrill(), DiskFullDrill(), FailoverDrill(), ReadersDrill(),
    ]
    /// Drills of operators' tasks (restore, upgrade) and of automatic failover.
    static let highAvailability: [any Drill] = [PatroniFailoverDrill(), RestoreDrill(), RollingUpgradeDrill()]
    /// Drills with several hosts, with wrong clocks, and with many deliveries or applications.
    static let hosts: [any Drill] = [
        HostsCutOffDrill(keepsJournal: true), HostsCutOffDrill(keepsJournal: false), ClockDrill(place: .host),
        ClockDrill(place: .database), SharedQuotaDrill(), ClonedHostDrill(), ManyApplicationsDrill(),
        ManyDeliveriesDrill(),
    ]
}

extension DrillCatalog {
    /// Drills with faulty gateways, revoked keys, mixed-up environments, and control of a running delivery.
    static let gateways: [any Drill] = [
        GatewayGoAwayDrill(), GatewayRefusedDrill(), GatewayLimitDrill(), GatewayResetDrill(), GatewayStallDrill(),
        Gateway503Drill(), Gateway429Drill(), GatewayOutageDrill(), KeyRevokedDrill(), EnvironmentMixUpDrill(),
        StrangersDrill(), PoisonedTokensDrill(), WrongAnswersDrill(), MassUnregisteredDrill(),
        ControlDrill(), RecallDrill(), CampaignDrill(),
    ]
    /// Drills that stop processes at crash points.
    static let crashes: [any Drill] = [CrashPointsDrill()]
}
