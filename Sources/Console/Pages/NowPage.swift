import Foundation
import HTTPTypes
import PushCore
import ServiceLifecycle
import Store

/// *Now*: whether all is well, and what happens.
struct NowPage: Sendable {
    let responder: ConsoleResponder

    var routes: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/", .role(.read)) { call in
                let html = try await responder.feed.part().html
                var values = try await approvals(call)
                values["live"] = .drawing(Markup(trusted: html))
                return .page(ConsolePage("now", title: responder.pages.catalogue[.nowTitle], values))
            },
            ConsoleRoute(.get, ConsoleRoutes.livePath, .role(.read)) { call in
                responder.live(call) { try await responder.feed.part() }
            },
        ]
    }

    /// The deliveries that the user is asked to approve, and their own that wait for somebody else.
    private func approvals(_ call: ConsoleCall) async throws -> PageValues {
        let user = try call.user
        guard user.role >= ApprovalsPage.role, let makers = await responder.approvals.count() else { return [:] }
        let own = makers.count { $0.contains("user \(user.user)") }
        let lines: [(Phrase, Int)] = [(.approvalsAwaited, makers.count - own), (.approvalsOwn, own)]
        let catalogue = responder.pages.catalogue
        let rows = lines.filter { $0.1 > 0 }.map { phrase, count -> PageValues in
            ["words": .text(catalogue.text(phrase, count: Int64(count), Figures.count(Int64(count))))]
        }
        return ["approvals": .list(rows)]
    }
}

extension ConsoleResponder {
    /// A live page checks its session and sends a sign of life once in this many ticks.
    private static let ticksPerCheck = 7

    /// Sends the live part of a page (nil: nothing new) whenever it has changed, until the session ends, the part is the
    /// last one, or newer pages of the session take its place.
    func live(_ call: ConsoleCall, _ part: @escaping @Sendable () async throws -> NowPart?) -> ConsoleReply {
        .events { [self] send in
            let session = call.actor.tokenHash
            let number = streams.enter(session)
            defer { streams.leave(number, of: session) }
            try await stream(call, number, part) { event in
                try await ticks.sending(hangUp: call.hangUp) { try await send(event) }
            }
        }
    }

    private func stream(
        _ call: ConsoleCall,
        _ number: Int,
        _ part: @Sendable () async throws -> NowPart?,
        _ send: (LiveEvent) async throws -> Void
    ) async throws {
        var last: Date?
        var tick = 0
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            // If a person still looks at it, its button lets it go on.
            guard streams.isOpen(number, of: call.actor.tokenHash) else {
                return try await send(.refused(pages.catalogue[.liveFull]))
            }
            tick += 1
            if tick.isMultiple(of: Self.ticksPerCheck) {
                var actor = call.actor
                actor.moment = setup.moment()
                guard await sessions.isOpen(actor) else { return }
                try await send(.alive)
            }
            let next: NowPart?
            do {
                next = try await part()
            } catch let error as StoreError where error.code == .notFound {
                // The reloaded page says so.
                return try await send(.changed)
            } catch {
                // The next page load reports an unreachable database.
                next = nil
            }
            if let next, next.readAt != last {
                try await send(next.event)
                if next.isLast { return }
                last = next.readAt
            }
            await ticks.next()
        }
    }
}
