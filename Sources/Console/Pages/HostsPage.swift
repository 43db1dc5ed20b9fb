import Foundation
import HTTPTypes
import PushCore
import Store

/// *Hosts*: supervisors and their children.
struct HostsPage: Sendable {
    let responder: ConsoleResponder

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/hosts", .role(.read)) { try await list($0) },
            ConsoleRoute(.get, "/hosts/{id}/drain", .role(.operate)) { try await confirm($0) },
            ConsoleRoute(.post, "/hosts/{id}/drain", .role(.operate)) { call in
                let id = try Self.host(call)
                try await responder.database.run { try await $0.drain(host: id, by: call.actor) }
                return .redirect("/hosts?done=drain")
            },
        ]
    }

    /// The id of a host: a UUID, in letters that the database takes.
    private static func host(_ call: ConsoleCall) throws(ConsoleProblem) -> String {
        guard let id = call.parameters["id"].flatMap({ UUID(uuidString: String($0)) }) else { throw .notFound }
        return id.uuidString.lowercased()
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (hosts, children) = try await responder.database.run { (try await $0.hosts(), try await $0.children()) }
        let mayOperate = call.mayOperate
        let rows = zip(hosts, Self.rows(hosts, children, catalogue)).map { host, values in
            var values = values
            values["mayDrain"] = .flag(mayOperate && host.report.state != .stopped && !host.isDrainRequested)
            return values
        }
        return .page(
            ConsolePage(
                "hosts",
                title: catalogue[.hostsTitle],
                [
                    "hosts": .list(rows), "hasHosts": .flag(!rows.isEmpty),
                    "isDone": .flag(call.query["done"] == "drain"),
                ]
            )
        )
    }

    private func confirm(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try Self.host(call)
        let hosts = try await responder.database.run { try await $0.hosts() }
        guard let host = hosts.first(where: { $0.report.id == id }) else { throw ConsoleProblem.notFound }
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.drainTitle],
                [
                    "subject": .text(host.report.name), "text": .text(catalogue[.drainText]),
                    "action": .text("/hosts/\(id)/drain"),
                    "button": .text(catalogue[.drainButton]), "back": "/hosts",
                ]
            )
        )
    }

    /// The values of hosts, each with its children.
    static func rows(_ hosts: [HostRow], _ children: [ChildOverview], _ catalogue: Catalogue) -> [PageValues] {
        hosts.map { host in
            let report = host.report
            let own = children.filter { $0.row.hostID == report.id }
            let rate = own.reduce(0) { $0 + $1.heartbeat.rate }
            let health =
                host.isDrainRequested && host.isHeardOf ? catalogue[.healthDraining] : catalogue.health(host.health)
            return [
                "id": .text(report.id), "name": .text(report.name), "health": .text(health),
                "healthClass": .text(host.isDrainRequested && host.isHeardOf ? "health-late" : "health-" + host.health),
                "version": .text(report.version), "children": .text("\(report.children) / \(report.maxChildren)"),
                "load": .text("\(Figures.oneDigit(report.load)) / \(report.cores)"),
                "memory": .text(Figures.bytes(report.residentBytes)),
                "disk": .text(Figures.bytes(report.journalFreeBytes)),
                "rate": .text(Figures.rate(rate)),
                "alarm": .text(report.alarm), "hasAlarm": .flag(!report.alarm.isEmpty),
                "heard": .text(Figures.duration(host.heartbeatAgeSeconds)),
                "own": .list(own.map { child($0, catalogue) }),
                "hasOwn": .flag(!own.isEmpty),
            ]
        }
    }

    private static func child(_ child: ChildOverview, _ catalogue: Catalogue) -> PageValues {
        let beat = child.heartbeat
        return [
            "application": .text(child.applicationName), "account": .text(child.accountName),
            "childState": .text(catalogue.childState(beat.state)),
            "rate": .text(Figures.rate(beat.rate)),
            "flight": .text(Figures.short(Int64(beat.connections.streamsInFlight))),
            "connections": .text("\(beat.connections.open)"),
            "latency": .text(Figures.milliseconds(beat.latencyP50Milliseconds)),
            "sent": .text(Figures.count(beat.sent)), "failed": .text(Figures.count(beat.failed)),
            "error": .text(beat.lastError),
            "hasError": .flag(!beat.lastError.isEmpty),
        ]
    }
}
