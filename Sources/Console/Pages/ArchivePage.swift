import HTTPTypes
import PushCore
import Store

/// The question before a delivery that has ended is archived, or shown in lists again.
struct ArchivePage: Sendable {
    let responder: ConsoleResponder

    /// What the page of a delivery says afterwards, by the value of its parameter `done`.
    static let done: [String: Phrase] = [Done.archived: .doneArchiveOne, Done.shown: .doneUnarchiveOne]
    private enum Done {
        static let (archived, shown) = ("archive", "unarchive")
    }

    private var catalogue: Catalogue { responder.pages.catalogue }

    private static func path(_ id: Int64) -> String { "/deliveries/\(id)/archive" }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/deliveries/{id}/archive", .role(.marketing)) { try await ask($0) },
            ConsoleRoute(.post, "/deliveries/{id}/archive", .role(.marketing)) { try await change($0) },
        ]
    }

    /// What the page of a delivery shows of it: whether it is archived, and links to this page and to the comparison.
    static func links(_ call: ConsoleCall, _ row: DeliveryProgress, _ catalogue: Catalogue) -> PageValues {
        guard row.kind == .batch || row.parentID == nil else { return [:] }
        var links: [PageValues] = []
        if row.target > 0 {
            links.append(["path": .text(ComparePage.path(row.id)), "name": .text(catalogue[.compareButton])])
        }
        if call.mayCompose, row.archivedAt != nil || row.state.isFinal && row.finishedAt != nil {
            let name: Phrase = row.archivedAt == nil ? .archiveButton : .unarchiveButton
            links.append(["path": .text(path(row.id)), "name": .text(catalogue[name])])
        }
        return [
            "listLinks": .list(links), "hasListLinks": .flag(!links.isEmpty),
            "isArchived": .flag(row.archivedAt != nil),
        ]
    }

    private func ask(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let row = try await responder.database.run { try await $0.deliveryProgress(id) }
        let isArchived = row.archivedAt != nil
        return .page(
            ConsolePage(
                "confirm",
                title: catalogue[isArchived ? .unarchiveTitle : .archiveTitle],
                [
                    "subject": .text(DeliveryWords(row: row, catalogue: catalogue).name),
                    "text": .text(catalogue[isArchived ? .unarchiveText : .archiveText]),
                    "action": .text(Self.path(id)), "isMild": .flag(true), "back": .text("/deliveries/\(id)"),
                    "button": .text(catalogue[isArchived ? .unarchiveButton : .archiveButton]),
                ]
            )
        )
    }

    private func change(_ call: ConsoleCall) async throws -> ConsoleReply {
        let id = try call.number("id")
        let (number, isArchived) = try await responder.database.run { store in
            let wasArchived = try await store.deliveryProgress(id).archivedAt != nil
            return (try await store.archive(deliveries: [id], !wasArchived, by: call.actor), !wasArchived)
        }
        guard number == 1 else { throw ConsoleProblem.conflict(catalogue[.archiveOnlyEnded]) }
        return .redirect("/deliveries/\(id)?done=\(isArchived ? Done.archived : Done.shown)")
    }
}
