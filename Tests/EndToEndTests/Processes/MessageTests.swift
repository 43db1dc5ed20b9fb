import Foundation
import LaboratoryStore
import PostgresClient
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import Store
@testable import pushmta

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Messages added to a continuous delivery, with real processes.
@Suite(.serialized) struct MessageTests {
    /// A continuous delivery in progress, created as an operator does it.
    private func continuous(_ site: DeliverySite) async throws -> Int64 {
        let words = ["delivery", "create", "--continuous", "--label", "codes", "--app", site.application, "--start"]
        let content = #"{"ios":{"title":"Code {{code}}"},"missing":"exclude"}"#
        let made = try await Program.pushmta().run(
            words + ["--content", content, "--config", site.testSite.settingsFile]
        )
        #expect(made.status == 0, "\(made.errors)")
        let id = try #require(Int64(made.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        _ = try await site.progress(id) { $0.state == .inProgress }
        return id
    }

    /// The subscriptions of the site's application.
    private func subscriptions(_ site: DeliverySite) async throws -> [Int64] {
        let list = try await site.run("subscription", "list", "--app", site.application, "--limit", "10", "--json")
        return try list.rows().compactMap { ($0["id"] as? Int).map(Int64.init) }
    }

    /// Messages that arrive as fast as they are claimed go first, but do not hold up a delivery until no more arrive.
    @Test func messagesInCrowdsLeaveRoomForADelivery() async throws {
        let subscribers: Int64 = 4_000
        try await DeliverySite.with(subscribers: subscribers, children: 1) { site in
            let id = try await continuous(site)
            let someone = try #require(try await subscriptions(site).first)
            // Each is its own part. A child can send more a second, and finds some at each look.
            let crowd = """
                SELECT count(*) FROM generate_series(1, 8) n
                CROSS JOIN LATERAL pushmta.send_message(\(id) + 0 * n, \(someone), NULL, NULL, '{"code": "1"}')
                """
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let store = Store(configuration: StoreSession.configuration(site.settings, role: "crowd"))
                        var calls = 0
                        while !Task.isCancelled {
                            do {
                                _ = try await store.query(crowd)
                                calls += 1
                            } catch  where Task.isCancelled {
                                break
                            }
                        }
                        await store.close()
                        return calls
                    }
                }
                let bulk = try await site.send(to: site.application)
                let end = try await site.progress(bulk)
                let marking = try await site.store.query(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pushmta/mta-child-marks/%'"
                )
                group.cancelAll()
                #expect(end.sent == subscribers)
                #expect(try marking.int64(0, 0) == 1, "marks have a connection of their own meanwhile")
                for try await calls in group { #expect(calls > 1, "it came until the end") }
            }
        }
    }

    @Test func aMessagePassesARunningDeliveryAndArrivesOnce() async throws {
        let messages: Int64 = 20_000
        try await DeliverySite.with(subscribers: messages, children: 1) { site in
            let id = try await continuous(site)
            let someone = String(try #require(try await subscriptions(site).first))
            try await site.slowDown(streams: 50, milliseconds: 50)
            let bulk = try await site.send(to: site.application)
            _ = try await site.progress(bulk) { $0.sent > 0 }

            let words = ["message", "send", String(id), "--subscription", someone, "--idempotency-key", "order-1"]
            var ids: [String] = []
            for repetition in 0..<2 {
                let sent = try await Program.pushmta().run(
                    words + ["--variables", #"{"code":"17"}"#, "--json", "--config", site.testSite.settingsFile]
                )
                let row = try #require(try sent.rows().first, "\(sent.errors)")
                ids.append(try #require(row["id"] as? String))
                #expect(row["repeated"] as? Bool == (repetition == 1))
            }
            #expect(ids[0] == ids[1])
            try await site.wait("the message") { try await site.store.message(ids[0])?.status == .sent }
            #expect(try await site.store.deliveryProgress(bulk).pending > 0, "it did not wait for the delivery's end")

            try await site.slowDown(streams: 1_000, milliseconds: 0)
            #expect(try await site.progress(bulk).sent == messages)
            let count = try await site.testSite.counters(site.simulator)
            #expect(count.accepted == messages + 1 && count.duplicates == 0)

            // The child reports messages that cannot be rendered, as for every delivery.
            let place = Addressee.subscription(try #require(Int64(someone)))
            let long = #"{"code":""# + String(repeating: "9", count: 5_000) + #""}"#
            for (variables, expected) in [("{}", "not_applicable"), (long, "failed")] {
                let odd = NewMessage(deliveryID: id, address: place, variables: variables)
                let oddID = try #require(try await site.store.sendMessage(odd).first).id
                try await site.wait(expected) { try await site.store.message(oddID)?.status.name == expected }
                let shown = try await site.run("message", "show", oddID, "--json").json()
                #expect(shown["status"] as? String == expected && (shown["reason"] as? String)?.isEmpty == false)
            }

            let status = try await site.run("delivery", "status", String(id), "--json").json()
            #expect(status["kind"] as? String == "continuous")
            let day = try #require((status["days"] as? [[String: Any]])?.first)
            #expect(day["target"] as? Int == 3 && day["sent"] as? Int == 1)
            #expect(day["failed"] as? Int == 1 && day["not_applicable"] as? Int == 1)
            // The phone has the message's _mId, and the gateway the same id as apns-id.
            let message = try #require(try await site.store.message(ids[0]))
            let key = try await site.store.trackingKey(delivery: message.deliveryID)
            let phone = try MessageIDCodec(deliveryID: message.deliveryID, trackingKey: key).uuid(
                sequence: message.sequence
            )
            let seen = try await site.run("message", "show", "\(phone)".uppercased(), "--json").json()
            #expect(seen["id"] as? String == ids[0] && seen["matched_as"] as? String == "uuid")
            let forged = try await site.run("message", "show", "6b6499a8-9d43-4bc5-acf0-b6aeb96846f6", expect: 65)
            #expect(forged.errors.contains("none of the keys"))
            let unknown = try await site.run("message", "send", String(id), "--user", "nobody", expect: 65)
            #expect(unknown.errors.contains("no such subscription"))
            try await site.run("delivery", "stop", String(id), "--wait")
            try await site.run("message", "send", String(id), "--subscription", someone, expect: 65)
        }
    }

    /// The first connection, the window and the loaded messages are full of the delivery, and it gets no answer for
    /// four seconds.
    @Test func aMessageWaitsForNoAnswerOfADelivery() async throws {
        let latency = 4_000
        try await DeliverySite.with(subscribers: 20_000, children: 1) { site in
            let id = try await continuous(site)
            let someone = try #require(try await subscriptions(site).first)
            try await site.slowDown(streams: 1_000, milliseconds: latency)
            let bulk = try await site.send(to: site.application)
            try await site.wait("a full child") {
                let child = try await site.store.children().first
                return (child?.report.partsHeld ?? 0) >= 4
            }
            let message = NewMessage(deliveryID: id, address: .subscription(someone), variables: #"{"code":"17"}"#)
            let sent = try #require(try await site.store.sendMessage(message).first).id
            try await site.wait("the message") { try await site.store.message(sent)?.status == .sent }
            // If it had waited for an answer, other messages would have been sent and answered with it.
            #expect(try await site.store.deliveryProgress(bulk).sent <= 1_000)
            try await site.slowDown(streams: 1_000, milliseconds: 0)
            #expect(try await site.progress(bulk).sent == 20_000)
        }
    }

    @Test func noMessageIsLostWithAChild() async throws {
        let messages = 120
        try await DeliverySite.with(subscribers: 20, children: 1) { site in
            let id = try await continuous(site)
            let people = try await subscriptions(site)
            try await site.slowDown(streams: 10, milliseconds: 20)
            var sent: [MessageReference] = []
            for number in 0..<messages {
                let address = Addressee.subscription(people[number % people.count])
                sent += try await site.store.sendMessage(
                    NewMessage(deliveryID: id, address: address, variables: #"{"code":"\#(number)"}"#)
                )
                guard number == 60 else { continue }
                try await site.wait("a child that sends") {
                    try await site.store.message(sent[number].id)?.status == .sent
                }
                for child in try await site.store.children() where child.report.pid > 0 {
                    kill(child.report.pid, SIGKILL)
                }
            }
            let day = try #require(sent.first).deliveryID
            // A child that died before it reported a message is not replaced for a minute.
            let end = try await site.progress(day, within: .seconds(150)) { $0.pending == 0 }
            #expect(end.target == Int64(messages) && end.sent == Int64(messages))
            #expect(try await site.store.snapshot(delivery: day).faults == [])
            let count = try await site.testSite.counters(site.simulator)
            #expect(count.accepted == Int64(messages))
            // Only messages in flight when a child was killed are sent again.
            #expect(count.acceptedTimes - count.accepted <= end.resentAfterAmbiguity)
        }
    }
}
