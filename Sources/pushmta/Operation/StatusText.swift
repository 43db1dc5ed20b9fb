import Administration
import PushCore
import Store

/// `pushmta status` for people: names instead of ids, only counters that are not zero, and no line wider than asked
/// for.
struct StatusText: Sendable {
    /// Fits into all but the smallest terminals, and into an e-mail or a ticket.
    static let width = 120

    private let snapshot: StatusSnapshot
    private let names: HostNames

    /// The text of a snapshot.
    init(_ snapshot: StatusSnapshot) {
        self.snapshot = snapshot
        names = HostNames(snapshot.hosts)
    }

    func text(width: Int) -> String {
        sections.map { name, table in
            if let reason = snapshot.unreadable[name] { return "\(name): not readable: \(reason)\n" }
            return table.rows.isEmpty
                ? "\(name): \(Self.none[name] ?? "none")\n" : "\(name)\n\(table.text(width: width))\n"
        }.joined(separator: "\n")
    }

    /// What an empty section means, and what to do about it if necessary.
    private static let none = [
        "hosts":
            "none, so nothing is sent: run `pushmta supervisor run` on this machine (systemctl start pushmta-supervisor)",
        "children": "none, as there is nothing to send",
        "applications": "none yet: `pushmta app add` declares one",
        "queues": "nothing waits", "deliveries": "none under way",
        "feedback": "no worker runs: `pushmta feedback` (systemctl start pushmta-feedback)",
    ]

    private var sections: [(String, FittedTable)] {
        var sections = [
            ("alarms", alarms), ("hosts", hosts), ("children", children), ("applications", applications),
            ("queues", queues), ("deliveries", deliveries), ("feedback", feedback),
        ]
        if let ended = snapshot.ended { sections.append(("ended children", self.ended(ended))) }
        return sections
    }

    private var alarms: FittedTable {
        var table = FittedTable([.text("severity"), .text("subject"), .text("code"), .text("since")])
        for alarm in snapshot.alarms {
            table.add(
                [alarm.severity.rawValue, alarm.fullSubject, alarm.code, alarm.since.map(Self.second) ?? ""],
                notes: [alarm.text, alarm.remedy.isEmpty ? "" : "To do: \(alarm.remedy)"]
            )
        }
        return table
    }

    private var hosts: FittedTable {
        var table = FittedTable([
            .text("host"), .text("state"), .text("version"), .number("children"), .number("load"), .number("memory"),
            .number("journal free"), .number("heartbeat"),
        ])
        for host in snapshot.hosts {
            let report = host.report
            let condition = host.health == "alive" ? report.state.rawValue : host.health
            table.add(
                [
                    names.name(report.id, report.name), condition,
                    report.version + (host.isVersionMixed ? " (mixed)" : ""),
                    "\(report.children)/\(report.maxChildren)", Self.tenths(report.load),
                    Self.bytes(report.residentBytes),
                    Self.bytes(report.journalFreeBytes), AgeWords.text(host.heartbeatAgeSeconds),
                ],
                notes: [
                    CounterWords.text([
                        ("unknown", host.unknown), ("resent after ambiguity", host.resentAfterAmbiguity),
                        ("journal replayed", report.journalReplayed), ("late outcomes", host.lateOutcomes),
                    ]), report.alarm,
                ]
            )
        }
        return table
    }

    private var children: FittedTable {
        var table = FittedTable([
            .text("host"), .number("pid"), .text("application"), .text("state"), .text("delivery"), .number("rate"),
            .number("p99 ms"), .number("conns"), .text("limited by"), .number("sent"), .number("failed"),
        ])
        let labels = Dictionary(snapshot.deliveries.map { ($0.id, $0.label) }, uniquingKeysWith: { first, _ in first })
        for child in snapshot.children {
            let report = child.report
            let condition = child.health == "alive" ? child.state.rawValue : child.health
            table.add(
                [
                    names.name(child), String(report.pid), child.applicationName, condition,
                    report.deliveryID.map { Self.delivery($0, labels[$0]) } ?? "",
                    report.rate > 0 ? Self.tenths(report.rate) : "",
                    report.latencyP99Milliseconds > 0 ? Self.tenths(report.latencyP99Milliseconds) : "",
                    "\(report.connections.open)/\(report.connections.wanted)",
                    report.connections.limitedBy?.rawValue ?? "", CounterWords.cell(report.counts.sent),
                    CounterWords.cell(report.counts.failed),
                ],
                notes: [Self.counters(child), report.lastError.isEmpty ? "" : "Last error: \(report.lastError)"]
            )
        }
        return table
    }

    private func ended(_ children: [ChildOverview]) -> FittedTable {
        var table = FittedTable([
            .text("host"), .number("pid"), .text("application"), .text("account"), .text("ended"), .number("sent"),
            .number("failed"),
        ])
        for child in children {
            let report = child.report
            let tail = child.stderrTail.split(whereSeparator: \.isNewline).joined(separator: " | ")
            table.add(
                [
                    names.name(child), String(report.pid), child.applicationName, child.accountName,
                    child.exitReason ?? "", CounterWords.cell(report.counts.sent),
                    CounterWords.cell(report.counts.failed),
                ],
                notes: [
                    child.exitDetail, Self.counters(child),
                    report.lastError.isEmpty ? "" : "Last error: \(report.lastError)",
                    tail.isEmpty ? "" : "Standard error: \(TerminalText.cut(tail, to: Table.maxCellLength))",
                ]
            )
        }
        return table
    }

    private var applications: FittedTable {
        var table = FittedTable([
            .text("application"), .text("platform"), .text("environment"), .text("circuit"), .number("next probe"),
            .text("token effects"),
        ])
        for row in snapshot.circuits {
            table.add(
                [
                    row.application, row.platform.rawValue, row.environment.rawValue, row.health.state.rawValue,
                    row.health.nextProbeInSeconds.map(AgeWords.text) ?? "", row.health.tokenEffectsHeld ? "held" : "",
                ],
                notes: [row.health.reason]
            )
        }
        return table
    }

    private var queues: FittedTable {
        var table = FittedTable([
            .text("application"), .text("account"), .text("connector"), .number("parts"), .number("messages"),
            .number("priority"), .number("oldest"),
        ])
        for work in snapshot.work {
            table.add([
                work.application, work.account, work.connector.rawValue, String(work.parts), String(work.messages),
                String(work.highestPriority), AgeWords.text(work.oldestSeconds),
            ])
        }
        return table
    }

    private var deliveries: FittedTable {
        var table = FittedTable([
            .number("id"), .text("label"), .text("state"), .number("target"), .number("pending"), .number("sent"),
            .number("failed"),
        ])
        let slow = snapshot.children.slowGateways
        for delivery in snapshot.deliveries {
            table.add(
                [
                    String(delivery.id), delivery.label,
                    delivery.state.rawValue + (delivery.standsStill ? ", waits" : "")
                        + (delivery.kind == .batch ? "" : ", \(delivery.kind.rawValue)")
                        + (slow[delivery.id] == nil ? "" : ", slow gateway"),
                    String(delivery.target), CounterWords.cell(delivery.pending), CounterWords.cell(delivery.sent),
                    CounterWords.cell(delivery.failed),
                ],
                notes: [
                    delivery.otherCounters, slow[delivery.id].map(Self.slowGateway) ?? "",
                    delivery.reasonLine,
                ]
            )
        }
        return table
    }

    private var feedback: FittedTable {
        var table = FittedTable([
            .text("host"), .number("pid"), .text("version"), .text("state"), .number("heartbeat"), .text("last action"),
        ])
        for worker in snapshot.workers {
            table.add(
                [
                    worker.host, String(worker.pid), worker.version, worker.state,
                    AgeWords.text(worker.heartbeatAgeSeconds), worker.lastAction,
                ],
                notes: [
                    CounterWords.text([
                        ("token events", worker.tokenEvents), ("messages counted", worker.messagesCounted),
                        ("hits counted", worker.hitsCounted), ("hits loaded", worker.hitsLoaded),
                        ("waiting spools", Int64(worker.waitingSpools)),
                    ])
                ]
            )
        }
        return table
    }
}

extension StatusText {
    /// The counters of a child that have no column of their own.
    private static func counters(_ child: ChildOverview) -> String {
        let others = ChildCounts.all.filter { !["sent", "failed"].contains($0.name) }
        return CounterWords.text(
            others.map { ($0.name.replacing("_", with: " "), child.report.counts[keyPath: $0.path]) }
                + [("journal replayed", child.journalReplayed)]
        )
    }

    /// The notice for a delivery that is limited by slow gateways.
    static func slowGateway(_ applications: [String]) -> String {
        "The gateway of \(applications.joined(separator: ", ")) responds slowly, which limits the rate."
    }

    /// A delivery's number, which commands take, and its label.
    static func delivery(_ id: Int64, _ label: String?) -> String {
        label.map { "\(id) \($0)" } ?? String(id)
    }

    /// A time to the second.
    static func second(_ time: DatabaseTime) -> String {
        // RFC 3339 without fractional seconds.
        String(time.internetText.prefix { $0 != "." }) + "Z"
    }

    /// A number with one digit after the point; large ones without.
    static func tenths(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e15 else { return "-" }
        return value.magnitude >= 100 ? String(Int64(value.rounded())) : String((value * 10).rounded() / 10)
    }

    /// Bytes in MiB or GiB.
    static func bytes(_ bytes: Int64) -> String {
        bytes >= 1 << 30 ? tenths(Double(bytes) / Double(1 << 30)) + " GiB" : "\(max(0, bytes) >> 20) MiB"
    }
}

extension DeliveryProgress {
    /// The counters of a delivery without a column in tables for people, in words; "" if all are zero.
    var otherCounters: String {
        CounterWords.text([
            ("ignored", ignored), ("not applicable", notApplicable), ("canceled", canceled), ("unknown", unknown),
            ("excluded", excluded), ("resent after ambiguity", resentAfterAmbiguity),
            ("journal replayed", journalReplayed), ("late outcomes", lateOutcomes),
        ])
    }
}

/// The names of hosts. If two share a name, the beginning of the id follows it.
struct HostNames: Sendable {
    /// Eight digits of the id distinguish hosts that share a name; `pushmta host remove` prints the whole id.
    private static let digitsOfID = 8

    private let ids: [String: String]
    private let twice: Set<String>

    /// The names of these hosts.
    init(_ hosts: [HostRow]) {
        ids = Dictionary(hosts.map { ($0.report.id, $0.report.name) }, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        twice = Set(hosts.map(\.report.name).filter { !seen.insert($0).inserted })
    }

    /// The name of the host that a child runs on.
    func name(_ child: ChildOverview) -> String { name(child.row.hostID, ids[child.row.hostID] ?? "") }

    /// The name of a host with this id and name.
    func name(_ id: String, _ name: String) -> String {
        if name.isEmpty { return String(id.prefix(Self.digitsOfID)) }
        return twice.contains(name) ? "\(name) (\(id.prefix(Self.digitsOfID)))" : name
    }
}
