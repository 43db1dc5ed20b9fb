import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Pause, resume and stop, as an operator types them while a delivery is being sent.
@Suite(.serialized) struct ControlTests {
    private static let messages: Int64 = 3_000

    /// Starts a delivery that lasts several seconds and returns when some of its messages are in flight.
    private func slowDelivery(_ site: DeliverySite) async throws -> Int64 {
        try await site.slowDown(streams: 20, milliseconds: 50)
        let id = try await site.send(to: site.application)
        _ = try await site.progress(id) { $0.sent > 0 }
        return id
    }

    private func isBalanced(_ progress: DeliveryProgress) -> Bool {
        progress.target == progress.pending + progress.sent + progress.failed + progress.ignored
            + progress.notApplicable + progress.canceled + progress.unknown
    }

    @Test func pausedDeliveriesRestAndGoOn() async throws {
        try await DeliverySite.with(subscribers: Self.messages) { site in
            let id = try await slowDelivery(site)
            let ending = try await site.run("delivery", "pause", String(id), "--wait")
            #expect(ending.output.contains("is paused"))
            #expect(ending.output.contains("Nothing of delivery \(id) is on the wire"))
            let paused = try await site.store.deliveryProgress(id)
            #expect(paused.state == .paused && paused.partsClaimed == 0 && isBalanced(paused))
            #expect(paused.sent > 0 && paused.pending > 0)
            #expect(try await site.testSite.counters(site.simulator).accepted == paused.sent)
            try await site.run("delivery", "pause", String(id))

            let resumed = try await site.run("delivery", "resume", String(id))
            #expect(resumed.output.contains("was resumed"))
            try await site.slowDown(streams: 1_000, milliseconds: 0)
            let finished = try await site.progress(id)
            #expect(finished.state == .finished && finished.sent == Self.messages && isBalanced(finished))
            let count = try await site.testSite.counters(site.simulator)
            #expect(count.accepted == Self.messages && count.duplicates == 0)
            for words in [["pause"], ["stop"], ["resume"]] {
                let late = try await site.run("delivery", words[0], String(id), expect: 65)
                #expect(late.errors.contains("finished"), "\(late.errors)")
            }
        }
    }

    @Test func stoppedDeliveriesSendNothingMore() async throws {
        try await DeliverySite.with(subscribers: Self.messages) { site in
            let id = try await slowDelivery(site)
            let ending = try await site.run("delivery", "stop", String(id), "--wait")
            #expect(ending.output.contains("is stopped"))
            #expect(ending.output.contains("Nothing of delivery \(id) is on the wire"))
            let stopped = try await site.progress(id) { $0.finishedAt != nil }
            #expect(stopped.state == .stopped && stopped.pending == 0 && stopped.canceled > 0 && isBalanced(stopped))
            #expect(try await site.testSite.counters(site.simulator).accepted == stopped.sent)
            #expect(try await site.run("delivery", "resume", String(id), expect: 65).errors.contains("stopped"))
        }
    }

    @Test func aDeliveryThatIsNotThereCannotBeControlled() async throws {
        try await DeliverySite.with { site in
            for words in ["pause", "resume", "stop"] {
                let ending = try await site.run("delivery", words, "12345678", expect: 65)
                #expect(ending.errors.contains("12345678"))
            }
            let unknown = try await site.run("app", "resume", "sample-iso", expect: 65)
            #expect(unknown.errors.contains("app list"))
            let closed = try await site.run("app", "resume", site.application)
            #expect(closed.output.contains("already closed"))
            let undo = try await site.run("quarantine", "undo", "--delivery", "12345678", expect: 65)
            #expect(undo.errors.contains("12345678"))
        }
    }
}
