import Foundation
import PostgresClient
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import Store
@testable import pushmta

/// A recurring delivery with the real processes: its runs are made, sent and recorded.
@Suite(.serialized) struct RecurrenceTests {
    private static let messages: Int64 = 50

    private func create(_ site: DeliverySite) async throws -> Int64 {
        let content = #"{"ios":{"title":"a"}}"#
        let created = try await site.run(
            "delivery",
            "create",
            "--label",
            "News",
            "--app",
            site.application,
            "--content",
            content
        )
        return try #require(Int64(created.output.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// Makes the next run due now.
    private func due(_ site: DeliverySite, _ id: Int64) async throws {
        _ = try await site.store.query(
            "UPDATE pushmta_engine.recurrence SET next_run = now(), look_at = now() WHERE delivery_id = $1",
            [.int64(id)]
        )
        // A supervisor without work looks rarely.
        _ = try await site.store.query("SELECT pg_notify('pushmta_wake', 'test')")
    }

    /// The latest run, when there are as many as this.
    private func run(_ site: DeliverySite, _ id: Int64, count: Int) async throws -> Int64 {
        try await site.wait("run \(count)") { try await site.store.recurrenceRuns(ofDelivery: id).count == count }
        return try #require(try await site.store.recurrenceRuns(ofDelivery: id).first?.runID)
    }

    @Test func runsAreMadeSentAndRecorded() async throws {
        try await DeliverySite.with(subscribers: Self.messages) { site in
            let id = try await create(site)
            let name = String(id)
            // A month apart, so that no other run comes.
            try await site.run(
                "delivery",
                "recur",
                "set",
                name,
                "--unit",
                "hours",
                "--every",
                "720",
                "--time-zone",
                "Europe/Berlin"
            )
            let started = try await site.run("delivery", "recur", "start", name)
            #expect(started.output.hasPrefix("Delivery \(id) recurs, next at "), "\(started.output)")
            try await site.run("delivery", "start", name, expect: 65)
            try await due(site, id)
            let first = try await run(site, id, count: 1)
            #expect(try await site.progress(first).sent == Self.messages)
            // What is changed is what the next one says; it reaches who has come since.
            try await site.audience.seed([site.application], count: 10)
            try await due(site, id)
            let second = try await run(site, id, count: 2)
            #expect(second != first)
            #expect(try await site.progress(second).sent == Self.messages + 10)
            let count = try await site.testSite.counters(site.simulator)
            #expect(count.accepted == 2 * Self.messages + 10 && count.duplicates == 0)
            let shown = try await site.run("delivery", "recur", "show", name)
            for words in ["every 720 hours", "Europe/Berlin", "It is active.", "started", String(second)] {
                #expect(shown.output.contains(words), "\(words): \(shown.output)")
            }
            // A content that cannot be prepared pauses the recurrence.
            _ = try await site.store.query(
                #"UPDATE pushmta_engine.delivery SET content = '{"ios": {"titel": "a"}}' WHERE id = $1"#,
                [.int64(id)]
            )
            try await due(site, id)
            try await site.wait("the pause") { try await site.store.recurrence(ofDelivery: id)?.state == .paused }
            let row = try #require(try await site.store.recurrence(ofDelivery: id))
            #expect(row.reason.contains("could not be"), "\(row.reason)")
            let alarms = try await site.run("status", "--json")
            #expect(alarms.output.contains("recurrence_paused"), "\(alarms.output)")
            try await site.run("delivery", "recur", "remove", name)
            try await site.run("delivery", "recur", "show", name, expect: 65)
        }
    }

    @Test func theCommandsRefuseWhatMakesNoSense() async throws {
        try await DeliverySite.with(subscribers: 1) { site in
            let id = String(try await create(site))
            let set = ["delivery", "recur", "set", id, "--time-zone", "UTC"]
            let wrong: [[String]] = [
                [], ["--unit", "years"], ["--unit", "days", "--times", "9"], ["--unit", "days", "--every", "0"],
                ["--unit", "weeks", "--times", "09:00", "--weekdays", "mon"],
                ["--unit", "days", "--times", "09:00", "--starts-on", "2027-02-29"],
                ["--unit", "days", "--times", "09:00", "--missed", "twice"],
            ]
            for options in wrong {
                let ending = try await Program.pushmta().run(
                    set + options + ["--config", site.testSite.settingsFile]
                )
                #expect(ending.status == 64, "\(options): \(ending.errors)")
            }
            let unknown: [[String]] = [
                ["--unit", "days"], ["--unit", "weeks", "--times", "09:00", "--weekdays", "8"],
                ["--unit", "days", "--times", "09:00", "--ends-on", "2020-01-01"],
            ]
            for options in unknown {
                let ending = try await Program.pushmta().run(
                    set + options + ["--config", site.testSite.settingsFile]
                )
                #expect(ending.status == 65, "\(options): \(ending.errors)")
            }
            try await site.run("delivery", "recur", "start", id, expect: 65)
            let made = try await site.run(
                "delivery",
                "recur",
                "set",
                id,
                "--unit",
                "months",
                "--times",
                "09:00,18:30",
                "--time-zone",
                "Europe/Berlin",
                "--month-days=15,-1",
                "--starts-on",
                "2092-01-01",
                "--except-dates",
                "2092-01-15",
                "--missed",
                "once",
                "--json"
            )
            #expect(made.output.contains("2092-01-31T08:00:00"), "\(made.output)")
            let shown = try await site.run("delivery", "recur", "show", id, "--json")
            for words in [#""month_days":[15,-1]"#, #""times":["09:00","18:30"]"#, #""missed":"once""#] {
                #expect(shown.output.contains(words), "\(words): \(shown.output)")
            }
        }
    }
}
