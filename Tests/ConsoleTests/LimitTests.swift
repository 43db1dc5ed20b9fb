import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PostgresClient
import PushCore
import Store
import Synchronization
import TestSupport
import Testing

@testable import Console

/// Limits of what strangers and slow readers can cost, and of what pages read.
@Suite struct LimitTests {
    @Test func failuresOfAnIPv6NetworkCountTogether() async throws {
        let site = try await ConsoleSite.start { $0.signInFailures = 3 }
        try await site.user("ada", .read)
        for number in 0..<12 {
            _ = try await site.signIn("guess \(number)", password: "wrong", peer: "2001:db8:0:7::\(number)")
        }
        let neighbour = try await site.signIn("ada", peer: "2001:db8:0:7:ffff::1")
        #expect(neighbour.status == .unauthorized && neighbour.text.contains("Too many attempts have failed"))
        #expect(try await site.signIn("ada", peer: "2001:db8:0:8::1").status == .seeOther)
        await site.close()
    }

    @Test func refusedSignInsAreBoundedAndGoWithAge() async throws {
        let site = try await ConsoleSite.start()
        let connection = try await site.database.connect()
        func count(_ condition: String) async throws -> Int64 {
            let sql = "SELECT count(*) FROM pushmta_engine.audit_log WHERE \(condition)"
            return try await connection.execute(.init(sql, prepare: false)).int64(0, 0)
        }
        try await connection.run(
            script: """
                INSERT INTO pushmta_engine.audit_log (at, who, action)
                SELECT now() - interval '91 days', '', a FROM unnest(ARRAY['sign_in.refused', 'host.drain']) a;
                INSERT INTO pushmta_engine.audit_log (at, who, action)
                SELECT now() - interval '1 hour', '', 'sign_in.refused' FROM generate_series(1, 999)
                """
        )
        _ = try await site.signIn("nobody", password: "wrong")
        #expect(try await count("action = 'host.drain'") == 1, "what was done stays")
        #expect(try await count("at < now() - interval '90 days' AND action = 'sign_in.refused'") == 0)
        #expect(
            try await count("action = 'sign_in.refused' AND detail = 'the last of 24 hours that is on record'") == 1
        )
        _ = try await site.signIn("nobody", password: "wrong")
        #expect(try await count("action = 'sign_in.refused'") == 1_000, "no more in a day")
        await #expect(throws: PostgresError.self) {
            try await connection.run(script: "DELETE FROM pushmta_engine.audit_log WHERE action = 'sign_in.refused'")
        }
        await connection.close()
        await site.close()
    }

    @Test func aNewLivePageTakesThePlaceOfTheOldestOfItsSession() {
        let streams = LiveStreams()
        let other = streams.enter([2])
        let first = (0..<LiveStreams.maxOfSession).map { _ in streams.enter([1]) }
        #expect(first.allSatisfy { streams.isOpen($0, of: [1]) })
        let next = streams.enter([1])
        #expect(!streams.isOpen(first[0], of: [1]) && streams.isOpen(first[1], of: [1]))
        #expect(streams.isOpen(next, of: [1]) && streams.isOpen(other, of: [2]), "another session has its own")
        // The ended one leaves late, and takes nothing with it.
        streams.leave(first[0], of: [1])
        #expect(streams.isOpen(next, of: [1]) && Set(streams.sessions) == [[1], [2]])
        streams.leave(next, of: [1])
        _ = streams.enter([1])
        #expect(streams.isOpen(first[1], of: [1]), "there was room")
        streams.leave(other, of: [2])
        #expect(streams.sessions == [[1]])
    }

    /// Somebody who opens page after page is never refused; the oldest page is told why it stands still.
    @Test(.timeLimit(.minutes(1))) func quickClicksEndTheOldestLivePage() async throws {
        let site = try await ConsoleSite.start()
        let reader = try await site.session(.read)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0...LiveStreams.maxOfSession {
                group.addTask { try await reader.live("/live") }
            }
            let ended = try #require(try await group.next())
            #expect(ended.hasSuffix(LiveEvent.refused(Catalogue.english[.liveFull]).text))
            group.cancelAll()
        }
        await site.close()
    }

    /// Missing and finished deliveries are not queried again and again.
    @Test(.timeLimit(.minutes(1))) func aLivePageEndsWithItsDelivery() async throws {
        let site = try await ConsoleSite.start()
        let reader = try await site.session(.read)
        #expect(try await reader.live("/deliveries/999/live?state=pending") == LiveEvent.changed.text)
        let delivery = try await site.delivery()
        try await site.admin.stopDelivery(delivery)
        #expect(try await reader.live("/deliveries/\(delivery)/live?state=pending") == LiveEvent.changed.text)
        let last = try await reader.live("/deliveries/\(delivery)/live?state=stopped")
        #expect(last.hasPrefix("data: ") && last.matches(of: /\n\n/).count == 1)
        #expect(site.responder.streams.sessions.isEmpty)
        await site.close()
    }

    /// A form accepts as much as its own fields need; strangers can send no more than their forms need.
    @Test func formsTakeWhatTheirFieldsTake() async throws {
        let site = try await ConsoleSite.start()
        try await site.subscriptions(1)
        let admin = try await site.session(.admin)
        func long(_ count: Int) -> String { String(repeating: "\u{8A9E}", count: count) }
        let variables = "{\"name\": \"\(long(3_980))\"}"
        let seed = [
            "name": "me", "label": long(1_000), "application": "shop-ios", "by": "user_key", "wanted": long(2_000),
            "locale": "fr", "variables": variables,
        ]
        let kept = try await admin.post("/seeds/new", form: seed)
        #expect(kept.status == .unprocessableContent && kept.text.contains(long(3_980)), "\(kept.status)")
        // The token or key of a person is not kept in the browser.
        #expect(kept.text.matches(of: /name="wanted"[^>]* data-unkept/).count == 1)
        #expect(
            try await admin.post("/services/new", form: ["name": long(200), "label": long(500)]).status
                != .contentTooLarge
        )
        // The form has the previous label as well as the new one.
        for letter in ["\u{8A9E}", "\u{8A00}"] {
            let page = try await admin.get("/services/change?service=shop").text
            let given = page.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)"/)
            let hidden = Dictionary(given.map { (String($0.1), String($0.2)) }) { $1 }
            let label = hidden.merging(
                ["label": String(repeating: letter, count: 500), "mapping": "", "trust": "open"]
            ) { $1 }
            let changed = try await admin.post("/services/change?service=shop", form: label)
            #expect(changed.headers[.location] == "/services?done=changed", "\(changed.status)")
        }
        let stranger = try await site.signIn("ada", password: String(repeating: "a", count: 20_000))
        #expect(stranger.status == .contentTooLarge)
        await site.close()
    }

    @Test func withoutACertificateNoneIsReadAgain() async throws {
        let site = try await ConsoleSite.start()
        let told = Told()
        var setup = site.responder.setup
        setup.logger = Logger(label: "told") { _ in told }
        let server = try ConsoleServer(setup)
        server.reloadCertificate()
        #expect(
            told.texts.withLock { $0 } == ["There is no certificate to reload: console.certificateFile is empty."]
        )
        await server.database.close()
        await server.responder.close()
        await site.close()
    }

    /// A reader that receives nothing: sending waits until the connection is closed.
    @Test func aReaderWhoTakesNothingLosesTheConnection() async throws {
        let (closed, close) = AsyncStream<Void>.makeStream()
        let hangUp: @Sendable () -> Void = { close.finish() }
        await #expect(throws: CancellationError.self) {
            try await LiveTicks(pause: .milliseconds(1), longest: .milliseconds(1)).sending(hangUp: hangUp) {
                for await _ in closed {}
                throw CancellationError()
            }
        }
        let isClosed = Mutex(false)
        let quick: @Sendable () -> Void = { isClosed.withLock { $0 = true } }
        try await LiveTicks(pause: .milliseconds(1), longest: .seconds(3_600)).sending(hangUp: quick) {}
        #expect(!isClosed.withLock { $0 })
    }

    /// All live pages share one timer. Each tick wakes every waiting page, and a page that ends no longer waits.
    @Test func livePagesHaveOneClock() async {
        let ticks = LiveTicks(pause: .milliseconds(2))
        let woken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    for _ in 0..<3 { await ticks.next() }
                    return 1
                }
            }
            return await group.reduce(0, +)
        }
        #expect(woken == 200)
        let slow = LiveTicks(pause: .seconds(3_600))
        let waiting = Task { await slow.next() }
        waiting.cancel()
        await waiting.value
    }

    /// Expensive queries run less often, and no query runs more often than its data changes.
    @Test func figuresOfLivePagesArePacedByTheirCost() async throws {
        let now = ContinuousClock.now
        let cheap = PacedFigure(value: 1, readAt: now, cost: .milliseconds(1))
        #expect(!cheap.isDue(at: now + .milliseconds(1_900), least: .seconds(2)))
        #expect(cheap.isDue(at: now + .seconds(2), least: .seconds(2)))
        let dear = PacedFigure(value: 1, readAt: now, cost: .milliseconds(100))
        #expect(
            !dear.isDue(at: now + .seconds(39), least: .seconds(2))
                && dear.isDue(at: now + .seconds(40), least: .seconds(2))
        )
        // A lone page shows the same in all its parts; many together take no more than the cost of each allows.
        let share = PacedFigure<Int>.shareAmong(1)
        #expect(dear.isDue(at: now + .seconds(2), least: .seconds(2), share: share))
        #expect([2, 10, 20, 200].map { PacedFigure<Int>.shareAmong($0) / share } == [2, 10, 20, 20])
        #expect(PacedFigure<Int>.shareAmong(200) == PacedFigure<Int>.share)
        let kept = try await PacedFigure.read(dear, least: .seconds(2), trip: .zero) { 2 }
        #expect(kept.value == 1)
        let old = PacedFigure(value: 1, readAt: now - .seconds(60), cost: .milliseconds(100))
        let read = try await PacedFigure.read(old, least: .seconds(2), trip: .seconds(1)) { 2 }
        #expect(read.value == 2 && read.cost == .zero, "the way to the database costs it nothing")
    }

    /// The sessions of live pages are checked together, with the console's own role.
    @Test func sessionsOfLivePagesAreAskedForOnce() async throws {
        let site = try await ConsoleSite.start()
        _ = try await site.session(.read, name: "ada")
        _ = try await site.session(.admin, name: "bob")
        let hashes = try await site.value(
            "SELECT string_agg(encode(s.token_hash, 'hex'), ',' ORDER BY s.created_at, s.token_hash) FROM pushmta_engine.console_session s"
        ).split(separator: ",").map { text in
            stride(from: 0, to: text.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
        }
        #expect(hashes.count == 2 && hashes.allSatisfy { $0.count == 32 })
        @Sendable func actor(_ hash: [UInt8]) -> ConsoleActor {
            ConsoleActor(tokenHash: hash, idleSeconds: 600, address: "", moment: nil)
        }
        let open = try await site.responder.database.run { [hashes] in
            try await $0.openConsoleSessions(hashes + [[1, 2]], asOf: actor(hashes[0]))
        }
        #expect(open == Set(hashes))
        let streams = LiveStreams()
        for hash in hashes { _ = streams.enter(hash) }
        let sessions = LiveSessions(database: site.responder.database, streams: streams)
        try await site.sql(
            "DELETE FROM pushmta_engine.console_session WHERE encode(token_hash, 'hex') = '\(hashes[1].map { String(format: "%02x", $0) }.joined())'"
        )
        #expect(await sessions.isOpen(actor(hashes[0])))
        #expect(await !sessions.isOpen(actor(hashes[1])))
        await site.close()
    }

    @Test func aPageThatTakesTooLongSaysSo() async throws {
        let site = try await ConsoleSite.start()
        let connection = try await site.database.connect()
        let slow = ConsoleDatabase(site.responder.setup)
        for (state, problem) in [("57014", ConsoleProblem.tooSlow), ("57P01", .databaseAway), ("55P03", .databaseAway)]
        {
            let error = await #expect(throws: ConsoleProblem.self) {
                try await slow.run { _ in
                    try await connection.run(
                        script: "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '\(state)'; END $$"
                    )
                }
            }
            #expect(error == problem, "\(state)")
        }
        let page = site.responder.pages.response(.tooSlow, frame: nil)
        #expect(page.status == .serviceUnavailable && page.headers[.retryAfter] == nil)
        await slow.close()
        await connection.close()
        await site.close()
    }

    @Test func aContinuousDeliveryShowsAMonthAndGoesOn() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.admin.createDelivery(
            NewDelivery(label: "Cart", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await site.admin.makeContinuous(delivery)
        let connection = try await site.database.connect()
        // Days of a continuous delivery, one for each of the last 40.
        try await connection.run(
            script: """
                INSERT INTO pushmta_engine.delivery (parent_delivery_id, kind, label, state, log_day, content, target)
                SELECT d.id, 'continuous', d.label, 'stopped', current_date - n, d.content, 1
                FROM pushmta_engine.delivery d, generate_series(40, 1, -1) n WHERE d.id = \(delivery)
                """
        )
        let reader = try await site.session(.read)
        func days(_ text: String) -> Int {
            text.matches(of: /<th scope="row"><a href="\/deliveries\/\d+">\d{4}-/).count
        }
        let first = try await reader.get("/deliveries/\(delivery)").text
        #expect(days(first) == DeliveryDetailPage.maxDays)
        let next = try #require(first.firstMatch(of: /href="(\/deliveries\/\d+\?below=\d+)"/)).1
        let second = try await reader.get(String(next)).text
        #expect(days(second) == 40 - DeliveryDetailPage.maxDays)
        #expect(!second.contains("href=\"/deliveries/\(delivery)?below=") && second.contains("Back to the newest days"))
        await connection.close()
        await site.close()
    }

    @Test func waitingIsAtLeastWhereCountingWasStopped() async throws {
        let site = try await ConsoleSite.start()
        let delivery = try await site.delivery()
        let connection = try await site.database.connect()
        try await connection.run(
            script: "UPDATE pushmta_engine.delivery SET state = 'in_progress' WHERE id = \(delivery)"
        )
        func waiting(_ parts: Int) async throws -> EngineFigures.Queue? {
            try await connection.run(
                script: """
                    INSERT INTO pushmta_engine.delivery_part (delivery_id, log_day, application_id, external_account_id, priority, state,
                        not_before, size)
                    SELECT d.id, current_date, a.id, a.external_account_id, 0, 'ready', now() - interval '1 minute', 2
                    FROM pushmta_engine.delivery d, pushmta_engine.application a, generate_series(1, \(parts)) WHERE d.id = \(delivery)
                    """
            )
            return try await site.admin.waitingMessages().first
        }
        let few = try #require(try await waiting(999))
        #expect(few.messages == 1_998 && !few.isPartial)
        let many = try #require(try await waiting(500))
        #expect(many.messages == 2_000 && many.isPartial)
        #expect(try await site.session(.read).get("/").text.contains("at least 2,000"))
        await connection.close()
        await site.close()
    }
}

/// Records log messages.
private final class Told: LogHandler, Sendable {
    let texts = Mutex<[String]>([])

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .notice }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) { texts.withLock { $0.append("\(event.message)") } }
}
