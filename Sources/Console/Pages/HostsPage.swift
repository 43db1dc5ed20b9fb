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
            ConsoleRoute(.get, "/hosts/{id}/drain", .role(.operate)) { try await confirmDrain($0) },
            ConsoleRoute(.post, "/hosts/{id}/drain", .role(.operate)) { call in
                let id = try Self.host(call)
                try await responder.database.run { try await $0.drain(host: id, by: call.actor) }
                return .redirect("/hosts?done=drain")
            },
            ConsoleRoute(.get, "/children/{id}/recycle", .role(.operate)) { try await confirmRecycling($0) },
            ConsoleRoute(.post, "/children/{id}/recycle", .role(.operate)) { call in
                let id = try call.number("id")
                try await responder.database.run { try await $0.recycle(child: id, by: call.actor) }
                return .redirect("/hosts?done=recycle")
            },
        ]
    }

    /// The id of a host: a UUID, in the lower-case form that the database uses.
    private static func host(_ call: ConsoleCall) throws(ConsoleProblem) -> String {
        guard let id = call.parameters["id"].flatMap({ UUID(uuidString: String($0)) }) else { throw .notFound }
        return id.uuidString.lowercased()
    }

    private func list(_ call: ConsoleCall) async throws -> ConsoleReply {
        let (hosts, children) = try await responder.database.run { (try await $0.hosts(), try await $0.children()) }
        let rows = HostRows(
            children: children,
            history: await responder.feed.history(with: hosts, children),
            catalogue: catalogue,
            mayOperate: call.mayOperate
        )
        let done: Phrase? =
            switch call.query["done"] {
            case "drain": .doneDrain
            case "recycle": .doneRecycle
            default: nil
            }
        return .page(
            ConsolePage(
                "hosts",
                title: catalogue[.hostsTitle],
                [
                    "hosts": .list(rows.hosts(hosts)), "hasHosts": .flag(!hosts.isEmpty),
                    "isDone": .flag(done != nil), "done": .text(done.map { catalogue[$0] } ?? ""),
                    "maySeeSettings": .flag(call.mayOperate),
                ]
            )
        )
    }

    private func confirmDrain(_ call: ConsoleCall) async throws -> ConsoleReply {
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

    private func confirmRecycling(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let (hosts, children) = try await responder.database.run { (try await $0.hosts(), try await $0.children()) }
        guard let child = children.first(where: { $0.id == id }) else { throw ConsoleProblem.notFound }
        let host = hosts.first { $0.report.id == child.row.hostID }?.report.name ?? ""
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[.recycleTitle],
                [
                    "subject": .text([child.applicationName, child.accountName, host].joined(separator: " · ")),
                    "text": .text(catalogue[.recycleText]), "action": .text("/children/\(id)/recycle"),
                    "button": .text(catalogue[.recycleButton]), "back": "/hosts",
                ]
            )
        )
    }
}
