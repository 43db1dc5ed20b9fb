import HTTPTypes
import PushCore
import Store

/// *Events*: who reads what happened, how far each is behind, what was lost, and how webhooks get through.
struct EventsPage: Sendable {
    let responder: ConsoleResponder

    static let path = "/events"
    /// Older dead letters are in `pushmta webhook dead`.
    private static let maxLetters = 50

    private var catalogue: Catalogue { responder.pages.catalogue }

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, Self.path, .role(.operate)) { _ in
                let (consumers, gaps, webhooks, letters) = try await responder.database.run { store in
                    (
                        try await store.consumers(), try await store.eventGaps(),
                        try await store.webhooks(withAddresses: false),
                        try await store.deadLetters(limit: Self.maxLetters)
                    )
                }
                return .page(
                    ConsolePage(
                        "events",
                        title: catalogue[.eventsTitle],
                        [
                            "consumers": .list(consumers.map(values)), "hasConsumers": .flag(!consumers.isEmpty),
                            "webhooks": .list(webhooks.map(values)), "hasWebhooks": .flag(!webhooks.isEmpty),
                            "letters": .list(letters.map(values)), "hasLetters": .flag(!letters.isEmpty),
                            "gaps": .list(gaps.map(values)), "hasGaps": .flag(!gaps.isEmpty),
                        ]
                    )
                )
            }
        ]
    }

    private func values(_ row: ConsumerRow) -> PageValues {
        [
            "name": .text(row.name), "service": .text(row.service ?? catalogue[.eventsAllServices]),
            "kinds": .text(row.kinds.joined(separator: ", ")), "behind": .text(Figures.duration(row.lagSeconds)),
            "isBehind": .flag(row.lagSeconds > Double(row.maxAgeSeconds) / 4),
            "given": .text(Figures.count(row.given)), "lost": .text(Figures.count(row.lost)),
            "readAt": .text(row.readAt.map(Figures.time) ?? catalogue[.eventsNeverRead]),
        ]
    }

    private func values(_ row: WebhookRow) -> PageValues {
        [
            "name": .text(row.consumer), "isActive": .flag(row.isActive),
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
            "id": .text(row.id), "name": .text(row.consumer), "at": .text(Figures.time(row.deadAt)),
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
