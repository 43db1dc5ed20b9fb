import Gateways
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import MTAChild
@testable import Store

/// Parts of a delivery whose content reads a column of a view, when the view cannot be read.
@Suite struct UnreadablePartTests {
    private struct World {
        let database: TestDatabase
        let store: Store
        let application: ApplicationRow
        let preparer: PartPreparer
        let part: ClaimedPart

        static func make(messages: Int64) async throws -> World {
            let database = try await TestDatabase.create(.migrated)
            let store = try await Store.connect(database.configuration())
            try await store.createService(name: "shop", label: "Shop")
            try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 443)
            try await store.createApplication(
                NewApplication(
                    service: "shop",
                    name: "shop-ios",
                    platform: .ios,
                    integrationKey: "ios-key",
                    bundleID: "com.shop",
                    account: "apns"
                )
            )
            try await store.seedSubscriptions(application: "shop-ios", count: messages)
            let connection = try await database.connect()
            try await connection.run(
                script: """
                    UPDATE pushmta_engine.subscription SET user_key = 'user-' || id;
                    CREATE TABLE numbers (key text PRIMARY KEY, n integer);
                    INSERT INTO numbers SELECT 'user-' || g, g FROM generate_series(1, \(messages)) g;
                    CREATE VIEW person AS SELECT key, 1000 / n AS share FROM numbers;
                    """
            )
            await connection.close()
            try await store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
            try await store.setService(name: "shop", mapping: "m")
            let delivery = try await store.createDelivery(
                NewDelivery(
                    label: "test",
                    applications: ["shop-ios"],
                    content: #"{"ios":{"title":"Your share: {{mapping.share}}"}}"#
                )
            )
            try await store.startDelivery(delivery)
            let job = try #require(
                try await store.claimDeliveriesToPrepare(host: "6f9619ff-8b86-4011-b42d-00cf4fc964ff").first
            )
            while try await !store.prepareChunk(job).done {}
            let application = try await store.application(named: "shop-ios")
            let account = try #require(application.accountID)
            let parts = try await store.claimParts(application: application.id, account: account, child: 1, limit: 1)
            return World(
                database: database,
                store: store,
                application: application,
                preparer: PartPreparer(
                    store: store,
                    views: ViewLoads(quick: store, slow: store, timeout: .seconds(10)),
                    application: application,
                    format: .apns,
                    clock: DatabaseClock(try await store.databaseClock()),
                    sendsLost: true
                ),
                part: try #require(parts.first)
            )
        }

        func run(_ script: String) async throws {
            let connection = try await database.connect()
            try await connection.run(script: script)
            await connection.close()
        }

        func limited(milliseconds: Int) -> Store {
            var configuration = database.configuration()
            configuration.statementTimeoutMilliseconds = milliseconds
            return Store(configuration: configuration)
        }

        func titles(_ prepared: PreparedPart) -> [String] {
            prepared.slices.flatMap { slice in (0..<slice.batch.count).map { slice.batch.bodies.string($0) } }
        }
    }

    @Test func whoCannotBeReadFailsAloneAndSaysWhy() async throws {
        let world = try await World.make(messages: 60)
        try await world.run("UPDATE numbers SET n = 0 WHERE key = 'user-17'")
        let prepared = try await world.preparer.prepare(world.part)
        #expect(prepared.sendable == 59 && prepared.open == 60)
        let decided = try #require(prepared.decided.first)
        #expect(prepared.decided.count == 1 && decided.status == .failed)
        #expect(prepared.subscriptionIDs[Int(decided.row)] == 17)
        #expect(decided.reason.hasPrefix("FieldsUnreadable: ") && decided.reason.contains("22012"))
        #expect(GatewayAnswers.apnsHTTP2.check(reason: decided.reason).explanation.contains("mapping"))
        #expect(world.titles(prepared).contains { $0.contains("Your share: 500") })
    }

    @Test func aMissingColumnHoldsThePartUpUntilItIsThereAgain() async throws {
        let world = try await World.make(messages: 10)
        _ = try await world.preparer.prepare(world.part)
        try await world.run("ALTER VIEW person RENAME COLUMN share TO portion")
        for _ in 1...2 {
            await #expect {
                try await world.preparer.prepare(world.part)
            } throws: { error in
                let problem = LoadProblem(error)
                return problem.scope == .delivery && problem.text.contains(#"no column "share""#)
                    && (error as? StoreError)?.code != .invalid
            }
        }
        try await world.run("ALTER VIEW person RENAME COLUMN portion TO share")
        #expect(try await world.preparer.prepare(world.part).sendable == 10)
    }

    @Test func aViewThatWasMadeAnewIsReadAsItIsNow() async throws {
        let world = try await World.make(messages: 10)
        _ = try await world.preparer.prepare(world.part)
        // The keys are now numbers, which do not compare with text.
        try await world.run(
            """
            DROP VIEW person;
            CREATE VIEW person AS SELECT substr(key, 6)::bigint AS key, 'much' AS share FROM numbers;
            UPDATE pushmta_engine.subscription SET user_key = substr(user_key, 6);
            """
        )
        let prepared = try await world.preparer.prepare(world.part)
        #expect(prepared.sendable == 10)
        #expect(world.titles(prepared).allSatisfy { $0.contains("Your share: much") })
    }

    /// With statement timeouts on the connections, as a child has them.
    @Test(.timeLimit(.minutes(2))) func aSlowViewIsNamedAndThoseWhoWaitAreNotTried() async throws {
        let world = try await World.make(messages: 130)
        let account = try #require(world.application.accountID)
        let others = try await world.store.claimParts(
            application: world.application.id,
            account: account,
            child: 1,
            limit: 4
        )
        let parts = [world.part] + others
        #expect(parts.count > 2)
        try await world.run(
            "CREATE OR REPLACE VIEW person AS SELECT key, 1000 / n AS share FROM numbers WHERE pg_sleep(600) IS NOT NULL"
        )
        let fields = try await world.store.resolve(
            MessageFields(names: ["mapping.share"]),
            application: world.application
        )
        let views = ViewLoads(
            quick: world.limited(milliseconds: 100),
            slow: world.limited(milliseconds: 500),
            timeout: .seconds(10)
        )
        let problems = await withTaskGroup(of: LoadProblem?.self) { group in
            for part in parts {
                group.addTask {
                    do {
                        _ = try await views.load(part, fields)
                        return nil
                    } catch {
                        return LoadProblem(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(problems).count == 1, "they all wait for the same")
        let problem = try #require(problems.first ?? nil)
        #expect(problem.scope == .delivery && problem.isTimeout)
        #expect(problem.text.hasPrefix(#"the view public.person of target mapping "m" does not answer in time: "#))
        try await world.run("CREATE OR REPLACE VIEW person AS SELECT key, 1000 / n AS share FROM numbers")
        for part in parts { #expect(try await views.load(part, fields).count == Int(part.size)) }
    }

    @Test(.timeLimit(.minutes(2))) func aLoadThatWaitsForItsTurnCanBeGivenUp() async throws {
        let world = try await World.make(messages: 10)
        try await world.run(
            "CREATE OR REPLACE VIEW person AS SELECT key, 1000 / n AS share FROM numbers WHERE pg_sleep(10) IS NOT NULL"
        )
        let fields = try await world.store.resolve(
            MessageFields(names: ["mapping.share"]),
            application: world.application
        )
        let views = ViewLoads(quick: world.store, slow: world.store, timeout: .seconds(600))
        let loads = (1...3).map { _ in Task { try await views.load(world.part, fields) } }
        // A cancellation that arrives before its statement has no effect at the server.
        let connection = try await world.database.connect()
        let sleeping = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'
            """
        try await eventually("the view is read") {
            try await connection.execute(PostgresStatement(sleeping)).int64(0, 0) > 0
        }
        await connection.close()
        for load in loads.reversed() {
            load.cancel()
            await #expect { try await load.value } throws: { $0 is CancellationError }
        }
        try await world.run("CREATE OR REPLACE VIEW person AS SELECT key, 1000 / n AS share FROM numbers")
        #expect(try await views.load(world.part, fields).count == 10)
    }

    @Test func whatMayHaveArrivedBeforeIsUnknownAndNotFailed() throws {
        var loaded = LoadedPart()
        for row in 0..<4 {
            loaded.sequences.append(Int32(row + 1))
            loaded.subscriptionIDs.append(Int64(row + 100))
            loaded.tokens.append(Array("5a5a\(row)".utf8))
            loaded.decisions.append(row == 3 ? .disabled : .sendable)
            loaded.unreadable[row] = "FieldsUnreadable: x"
        }
        var sorter = RowSorter(
            sendsLost: true,
            known: [],
            recovery: PartRecovery(ambiguous: [1]),
            inherited: [2],
            now: DispatchFixture.start
        )
        let fates = (0..<4).map { row in
            if case .decided(let status, let reason) = sorter.sort(row: row, loaded) {
                "\(status.name), \(reason.contains("FieldsUnreadable"))"
            } else {
                "sent"
            }
        }
        #expect(fates == ["unknown, true", "unknown, true", "failed, true", "not_applicable, false"])
        #expect(sorter.lost.isEmpty && sorter.resent == 0)
    }

    /// The part goes back under its token as every part does, and the journal keeps its records until the database has
    /// it.
    @Test func aPartThatCannotBeReadIsOnItsWayBackUntilTheDatabaseHasIt() {
        var dispatch = DispatchState(window: DispatchWindow(size: 10, maxBytes: .max), batchSize: 10, applicationID: 1)
        let part = PartToken(part: 7, token: 3)
        let actions = dispatch.handle(.unloaded(part, reason: "gone"), now: DispatchFixture.start)
        let postponed = actions.compactMap { action -> String? in
            if case .postpone(part, let reason) = action { reason } else { nil }
        }
        #expect(postponed == ["gone"] && dispatch.endings.releasing == [part])
        #expect(dispatch.journaledClaims == [part])
        _ = dispatch.handle(.released(part), now: DispatchFixture.start)
        #expect(dispatch.endings.releasing.isEmpty && dispatch.journaledClaims.isEmpty)
    }
}
