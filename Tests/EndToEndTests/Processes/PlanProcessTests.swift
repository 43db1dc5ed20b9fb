import Foundation
import PostgresClient
import PushCore
import Testing

@testable import Administration
@testable import Laboratory
@testable import Store
@testable import pushmta

/// Waves and sending hours with a supervisor, its children and a gateway.
@Suite(.serialized) struct PlanProcessTests {
    private static let messages: Int64 = 300

    private func created(_ site: DeliverySite, _ more: String...) async throws -> String {
        let content = #"{"ios":{"title":"a"}}"#
        let arguments =
            ["delivery", "create", "--label", "Sale", "--app", site.application, "--content", content] + more
        let ending = try await Program.pushmta().run(arguments + ["--config", site.testSite.settingsFile])
        #expect(ending.status == 0, "\(ending.output) \(ending.errors)")
        return ending.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func wavesLeaveOneAfterTheOther() async throws {
        try await DeliverySite.with(subscribers: Self.messages) { site in
            let text = try await created(site)
            let id = try #require(Int64(text))
            let waves = ["--wave", "50", "--wave", "30% failed 5%", "--wave", "rest", "--guard-tokens", "10%"]
            let set = try await Program.pushmta().run(
                ["delivery", "plan", text] + waves + ["--config", site.testSite.settingsFile]
            )
            #expect(set.status == 0 && set.output.contains("failed 5%"), "\(set.output) \(set.errors)")
            try await site.run("delivery", "start", text)
            let ended = try await site.progress(id)
            #expect(ended.sent == Self.messages && ended.state == .finished)
            let row = try #require(try await site.store.plan(ofDelivery: id))
            #expect(row.waves.map(\.messages) == [50, 90, 160] && row.waves.map(\.sent) == [50, 90, 160])
            #expect(row.waves.map(\.state) == [.passed, .passed, .open] && row.plannedMessages == 0)
            let early = try await site.store.query(
                """
                SELECT count(*) FROM pushmta_engine.broad_log b JOIN pushmta_engine.delivery_part p ON p.id = b.part_id
                JOIN pushmta_engine.delivery_wave w ON w.delivery_id = p.delivery_id AND w.number = p.wave
                WHERE b.delivery_id = $1 AND b.logged_at < w.opened_at
                """,
                [.int64(id)]
            ).one { try $0.int64() }
            #expect(early == 0, "no message left before its wave began")
            let count = try await site.testSite.counters(site.simulator)
            #expect(count.accepted == Self.messages && count.duplicates == 0)
            let shown = try await site.run("delivery", "plan", text, "--json")
            #expect(shown.output.contains(#""state":"passed""#), "\(shown.output)")
            try await site.run("delivery", "plan", text, "--no-waves", expect: 65)
            for wrong in ["5", "rest after", "200%", "10 at noon", "10 after 1 h"] {
                try await site.run(
                    "delivery",
                    "plan",
                    text,
                    "--wave",
                    wrong,
                    "--wave",
                    "rest",
                    expect: wrong == "5" ? 65 : 64
                )
            }
        }
    }

    @Test func nothingLeavesBetweenTheSendingHours() async throws {
        try await DeliverySite.with(subscribers: Self.messages) { site in
            let clock = try await hours(of: site)
            let text = try await created(site, "--rate", "20", "--start")
            let id = try #require(Int64(text))
            // What was on the wire when the hours ended has its answer, and nothing is ready any more.
            let quiet = """
                SELECT p.sent FROM pushmta.delivery_progress p WHERE p.id = $1 AND now() > $2 AND NOT EXISTS (
                    SELECT FROM pushmta_engine.delivery_part q WHERE q.delivery_id = p.id AND q.state IN ('ready', 'claimed'))
                """
            var sent: Int64?
            try await site.wait("the end of the hours", within: DeliverySite.limit) {
                sent = try await site.store.query(quiet, [.int64(id), clock.closes]).oneOrNil { try $0.int64() }
                return sent != nil
            }
            let before = try #require(sent)
            #expect(before < Self.messages)
            try await site.wait("the next hours", within: DeliverySite.limit) {
                let (now, isClosed) = try await site.store.query(
                    "SELECT p.sent, now() < $2 FROM pushmta.delivery_progress p WHERE p.id = $1",
                    [.int64(id), clock.opens]
                ).one { (try $0.int64(), try $0.bool()) }
                if isClosed, now != before { Issue.record("\(now) messages were sent, not \(before)") }
                return !isClosed
            }
            let ended = try await site.progress(id)
            #expect(ended.sent == Self.messages && ended.state == .finished)
            let count = try await site.testSite.counters(site.simulator)
            #expect(count.accepted == Self.messages && count.duplicates == 0)
        }
    }

    /// Sets hours that end in 8 s and begin again in 20 s, in a zone where it is about noon, so that midnight is far.
    private func hours(of site: DeliverySite) async throws -> (closes: PostgresValue, opens: PostgresValue) {
        let hour = try await site.store.query("SELECT extract(hour FROM now() AT TIME ZONE 'UTC')::integer")
            .one { Int(try $0.int32()) }
        // The sign of these names is that of POSIX: Etc/GMT-5 is five hours ahead.
        let offset = 12 - hour
        let zone = offset == 0 ? "Etc/GMT" : offset > 0 ? "Etc/GMT-\(offset)" : "Etc/GMT+\(-offset)"
        let found = try await site.store.query(
            """
            SELECT to_char(t.closes AT TIME ZONE $1, 'HH24:MI:SS'), to_char(t.opens AT TIME ZONE $1, 'HH24:MI:SS'), t.closes, t.opens
            FROM (SELECT n.now + interval '8 s' AS closes, n.now + interval '20 s' AS opens
                FROM (SELECT date_trunc('second', now()) AS now) n) t
            """,
            [.text(zone)]
        ).one { (try $0.text(), try $0.text(), try $0.time(), try $0.time()) }
        var hours = SendingHours()
        hours.timeZone = zone
        hours.hours = [
            SendingHours.Line(weekdays: Array(1...7), opens: "00:00", closes: found.0),
            SendingHours.Line(weekdays: Array(1...7), opens: found.1, closes: "24:00"),
        ]
        try await site.store.setSendingHours(ofService: site.audience.prefix, hours)
        return (
            .timestamp(microsecondsSince1970: found.2.microsecondsSince1970),
            .timestamp(microsecondsSince1970: found.3.microsecondsSince1970)
        )
    }
}
