import HTTPTypes
import PushCore
import Store

/// *Events*: the consumers, how far each is behind, what it lost, and whether webhooks get through.
struct EventsPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/events"
    /// Older dead letters are in `pushmta webhook dead`.
    private static let maxLetters = 50

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.operate)) { call in
                let (consumers, gaps, webhooks, letters) = try await responder.database.run { store in
                    (
                        try await store.consumers(), try await store.eventGaps(),
                        try await store.webhooks(withAddresses: false),
                        try await store.deadLetters(limit: Self.maxLetters)
                    )
                }
                let posted = Set(webhooks.map(\.consumer))
                var page: PageValues = [
                    "consumers": .list(consumers.map { values($0, isPosted: posted.contains($0.name)) }),
                    "hasConsumers": .flag(!consumers.isEmpty),
                    "webhooks": .list(webhooks.map(values)), "hasWebhooks": .flag(!webhooks.isEmpty),
                    "letters": .list(letters.map(values)), "hasLetters": .flag(!letters.isEmpty),
                    "gaps": .list(gaps.map(values)), "hasGaps": .flag(!gaps.isEmpty),
                    "mayDeclare": .flag(call.mayDeclare),
                ]
                if let done = EventChangePages.done(call.query["done"]) {
                    page["done"] = .text(catalogue[done])
                }
                return .page(ConsolePage("events", title: catalogue[.eventsTitle], page))
            }
        ]
    }

    /// - Parameter isPosted: whether a webhook posts its events.
    private func values(_ row: ConsumerRow, isPosted: Bool) -> PageValues {
        [
            "isPosted": .flag(isPosted), "postPath": .text(EventChangePages.path("webhook", row.name)),
            "removePath": .text(EventChangePages.path("remove", row.name)), "name": .text(row.name),
            "service": .text(row.service ?? catalogue[.eventsAllServices]),
            "reader": .text(row.reader ?? catalogue[.consumerReaderAll]),
            "kinds": .text(row.kinds.joined(separator: ", ")), "behind": .text(Figures.duration(row.lagSeconds)),
            "isBehind": .flag(row.lagSeconds > Double(row.maxAgeSeconds) / 4),
            "given": .text(Figures.count(row.given)), "lost": .text(Figures.count(row.lost)),
            "readAt": .text(row.readAt.map(Figures.time) ?? catalogue[.eventsNeverRead]),
        ]
    }

    private func values(_ row: WebhookRow) -> PageValues {
        [
            "name": .text(row.consumer), "host": .text(row.host), "isActive": .flag(row.isActive),
            "controlPath": .text(EventChangePages.controlPath(row.isActive, row.consumer)),
            "addressPath": .text(EventChangePages.path("address", row.consumer)),
            "secretPath": .text(EventChangePages.path("secret", row.consumer)),
            "removePath": .text(EventChangePages.path("remove-webhook", row.consumer)),
            "state": .text(catalogue[row.isActive ? .webhookActive : .webhookInactive]),
            "accepted": .text(Figures.count(row.accepted)),
            "acceptedAt": .text(row.acceptedAt.map(Figures.time) ?? "–"),
            "attempts": .text(Figures.count(Int64(row.attempts ?? 0))),
            "letters": .text(Figures.count(row.deadLetters)),
            "trouble": .text(row.inactiveReason.isEmpty ? row.trouble ?? "" : row.inactiveReason),
        ]
    }

    private func values(_ row: DeadLetterRow) -> PageValues {
        [
            "id": .text(row.id), "resendPath": .text(EventChangePages.resendPath(row.id)),
            "name": .text(row.consumer), "at": .text(Figures.time(row.deadAt)),
            "events": .text(Figures.count(row.events)), "trouble": .text(row.trouble),
        ]
    }

    private func values(_ row: EventGapRow) -> PageValues {
        let why: Phrase = row.why == "restored" ? .gapRestored : row.why == "size" ? .gapSize : .gapAge
        return [
            "name": .text(row.consumer), "from": .text(Figures.time(row.from)),
            "through": .text(Figures.time(row.through)), "lost": .text(Figures.count(row.lost)),
            "why": .text(catalogue[why]),
        ]
    }
}
