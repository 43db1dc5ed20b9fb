import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Imports in parallel with one another, with registrations, and with other changes of subscriptions.
@Suite("Imports in parallel")
struct ImportTests {
    private static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    private static func rows(_ numbers: some Sequence<Int>, user: String = "u") -> [ImportRow] {
        numbers.enumerated().map { place, number in
            ImportRow(
                line: place + 2,
                pushToken: token(number),
                userKey: "\(user)\(number)",
                recipient: ["n": "\(number)"]
            )
        }
    }

    /// Batches of a given size.
    private static func batches(_ rows: [ImportRow], of size: Int) -> AsyncStream<[ImportRow]> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: rows.count, by: size) {
                continuation.yield(Array(rows[start..<min(start + size, rows.count)]))
            }
            continuation.finish()
        }
    }

    private func importing(_ store: Store, _ rows: [ImportRow], of size: Int = 100) async throws -> ImportReport {
        var options = ImportOptions()
        options.age = .now
        options.bringsBack = Set(ImportState.allCases)
        return try await store.importSubscriptions(
            application: "shop-ios",
            rows: Self.batches(rows, of: size),
            options: options
        )
    }

    private static func registrations(
        _ numbers: some Sequence<Int>,
        user: String,
        device: String = ""
    ) throws -> [PlacedRegistration] {
        try numbers.map { number in
            var form = FormParameters()
            let said = "registrationToken=\(token(number))&mobileAppUuid=k&userKey=\(user)\(number)"
            try form.read(Array((said + (device.isEmpty ? "" : "&deviceUuid=\(device)\(number)")).utf8))
            return try PlacedRegistration(
                DeviceRegistration(form, platform: .ios),
                application: 1,
                declarations: ApplicationDeclarations()
            )
        }
    }

    @Test("Even with plans from a small site, registrations and imports do not scan an application for one token")
    func plannedWhileSmall() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql("ALTER TABLE pushmta_engine.subscription SET (autovacuum_enabled = off)")
        let session = Store(configuration: fixture.database.configuration())
        // A few pages without statistics: the planner then considers the application's index as good as the token's.
        _ = try await session.register(try Self.registrations(1...300, user: "u", device: "d"))
        await session.close()
        let planned = Store(configuration: fixture.database.configuration())
        for place in 0..<10 {
            let numbers = 1_000 + place * 100..<1_100 + place * 100
            _ = try await planned.register(try Self.registrations(numbers, user: "u", device: "d"))
            _ = try await importing(planned, Self.rows(numbers.map { $0 + 10_000 }))
        }
        await planned.close()
        func count(_ measure: String, _ index: String) async throws -> Int64 {
            let counted = "SELECT \(measure) FROM pg_stat_user_indexes WHERE indexrelname = '\(index)'"
            return try #require(try await fixture.sql(counted))
        }
        // A session's reads are counted when it ends.
        try await eventually("the session's reads are counted") {
            try await count("idx_scan", "subscription_disabled_token") >= 2_000
        }
        let read = try await count("idx_tup_read", "subscription_scan")
        #expect(read < 10_000)
        #expect(try await count("idx_scan", "subscription_device") >= 1_000)
    }

    @Test("A device id shared by many devices of another application costs an application nothing")
    func sharedDeviceID() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, device_id)
            SELECT 2, 'other' || i, 'u' || i, 'd7' FROM generate_series(1, 5000) i
            """
        )
        let session = Store(configuration: fixture.database.configuration())
        for round in 0..<20 {
            _ = try await session.register(try Self.registrations([7], user: "u\(round)", device: "d"))
        }
        await session.close()
        func count(_ measure: String) async throws -> Int64 {
            let counted = "SELECT \(measure) FROM pg_stat_user_indexes WHERE indexrelname = 'subscription_device'"
            return try #require(try await fixture.sql(counted))
        }
        try await eventually("the session's reads are counted") { try await count("idx_scan") >= 20 }
        #expect(try await count("idx_tup_read") < 5_000)
    }

    @Test("The same lines forward, backward and for other users, in parallel")
    func sameLines() async throws {
        let fixture = try await StoreFixture.make()
        let count = 600
        let orders = [Array(1...count), Array((1...count).reversed()), Array(1...count)]
        let reports = try await withThrowingTaskGroup(of: ImportReport.self) { group in
            for (place, numbers) in (orders + orders).enumerated() {
                let user = place % 3 == 2 ? "other" : "u"
                group.addTask {
                    let store = Store(configuration: fixture.database.configuration())
                    let report = try await importing(store, Self.rows(numbers, user: user), of: 150)
                    await store.close()
                    return report
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.allSatisfy { $0.lines == count && $0.lastLine == count + 1 })
        let all = try await fixture.store.subscriptions(application: "shop-ios", limit: 10_000)
        #expect(all.count { $0.enabled } == count && Set(all.filter(\.enabled).map(\.pushToken)).count == count)
        #expect(reports.reduce(0) { $0 + $1.created } == count)
        #expect(reports.reduce(0) { $0 + $1.moved } >= all.count - count)
    }

    @Test("In parallel with registrations")
    func besideRegistrations() async throws {
        let fixture = try await StoreFixture.make()
        let numbers = 1...400
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 0..<6 {
                    let user = round % 2 == 0 ? "u" : "v"
                    _ = try await importing(fixture.store, Self.rows(numbers, user: user), of: 80)
                }
            }
            for user in ["u", "w"] {
                let store = Store(configuration: fixture.database.configuration())
                group.addTask {
                    for _ in 0..<12 {
                        for start in stride(from: 400, to: 0, by: -50) {
                            let some = (start - 49...start).reversed()
                            _ = try await store.register(Self.registrations(some, user: user))
                        }
                    }
                    await store.close()
                }
            }
            try await group.waitForAll()
        }
        let enabled = try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE enabled")
        #expect(enabled == 400)
    }

    @Test("A token that another session has enabled in between is updated by the next attempt")
    func lateRow() async throws {
        let fixture = try await StoreFixture.make()
        let script = """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
            VALUES (1, '\(Self.token(7))', 'u7'), (1, '\(Self.token(8))', 'somebody')
            """
        try await fixture.during(script) {
            let report = try await importing(fixture.store, Self.rows(5...9))
            #expect(report.created == 3 && report.updated == 1 && report.moved == 1)
        }
        let rows = try await fixture.store.subscriptions(application: "shop-ios")
        #expect(rows.count == 6 && rows.filter(\.enabled).allSatisfy { $0.userKey.hasPrefix("u") })
    }

    @Test("A deadlock with another session costs an attempt, not the import")
    func deadlock() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await importing(fixture.store, Self.rows(1...50))
        func touch(_ number: Int) -> String {
            "UPDATE pushmta_engine.subscription SET soft_errors = 1 WHERE push_token = '\(Self.token(number))'"
        }
        let holder = try await fixture.database.connect()
        // The session that waits this long checks for deadlocks: the import, not this session.
        try await holder.run(
            script: "SET deadlock_timeout = '30s'; SET idle_in_transaction_session_timeout = 0; BEGIN; \(touch(50))"
        )
        let task = Task { try await importing(fixture.store, Self.rows(1...50)) }
        try await fixture.waitForLock()
        try await holder.run(script: "\(touch(1)); COMMIT")
        let report = try await task.value
        #expect(report.created == 0 && report.updated == 50)
        await holder.close()
    }

    @Test("A line with a repeated token is counted and reported")
    func repeated() async throws {
        let fixture = try await StoreFixture.make()
        let letters = String(repeating: "ab", count: 32)
        let rows = [
            ImportRow(line: 2, pushToken: letters, userKey: "one"), ImportRow(line: 3, pushToken: Self.token(3)),
            ImportRow(line: 4, pushToken: letters.uppercased(), userKey: "two"), ImportRow(line: 5, pushToken: "none"),
        ]
        var options = ImportOptions()
        options.skipsMalformed = true
        let report = try await fixture.store.importSubscriptions(
            application: "shop-ios",
            rows: Self.batches(rows, of: 10),
            options: options
        )
        #expect(report.created == 2 && report.updated == 0 && report.replaced == 1 && report.skipped == 1)
        #expect(report.replacements.map(\.line) == [2])
        #expect(report.replacements.first?.problem.contains("again on line 4") == true)
        #expect(report.replacements.first?.problem.contains(letters) == false)
        #expect(try await fixture.store.subscriptions().contains { $0.userKey == "two" && $0.enabled })
        // In another batch it has the effect of a second import.
        let later = try await importing(fixture.store, Self.rows([3, 9, 3], user: "x"), of: 1)
        #expect(later.created == 1 && later.updated == 1 && later.replaced == 0 && later.moved == 1)
        let many = try await importing(fixture.store, Self.rows((0..<400).map { $0 % 10 + 20 }), of: 400)
        #expect(many.created == 10 && many.replaced == 390 && many.replacements.count == 100)
    }
}
