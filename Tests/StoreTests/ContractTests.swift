import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The contract with marketing systems and monitoring")
struct ContractTests {
    @Test("Bad input is refused with a message that names the thing and the remedy")
    func refusals() async throws {
        let fixture = try await StoreFixture.make()
        let store = fixture.store
        func refusal(_ body: () async throws -> Void) async -> StoreError? {
            do { try await body() } catch { return error as? StoreError }
            return nil
        }
        let notJSON = await refusal {
            _ = try await store.createDelivery(NewDelivery(label: "x", applications: ["shop-ios"], content: "{"))
        }
        #expect(notJSON?.code == .invalid && notJSON?.message.contains("not JSON") == true)
        let noObject = await refusal {
            _ = try await store.createDelivery(NewDelivery(label: "x", applications: ["shop-ios"], content: "[1]"))
        }
        #expect(noObject?.message.contains("array") == true)
        let unknown = await refusal {
            _ = try await store.createDelivery(NewDelivery(label: "x", applications: ["shop-io"], content: "{}"))
        }
        #expect(unknown?.code == .notFound && unknown?.message.contains("shop-io") == true && unknown?.hint != nil)
        #expect(await refusal { try await store.startDelivery(99) }?.code == .notFound)
        #expect(await refusal { _ = try await store.deliveryProgress(99) }?.code == .notFound)
        let id = try await fixture.startedDelivery()
        #expect(await refusal { try await store.startDelivery(id) }?.code == .conflict)
        #expect(
            await refusal { _ = try await store.credential(application: 1) }?.hint?.contains("credential set") == true
        )
    }

    @Test("Each setting that is null has its default")
    func nullSettings() async throws {
        let fixture = try await StoreFixture.make()
        let names = [
            "priority", "validity", "explicit_targets", "one_per_user", "ambiguity_policy", "max_retries",
            "retry_period_seconds", "retry_schedule", "messages_per_second",
        ]
        for given in [""] + names.map({ ", \($0) => NULL" }) {
            try await fixture.sql(
                #"SELECT pushmta.create_delivery('x', '{shop-ios}', '{"ios": {"title": "a"}}'\#(given))"#
            )
        }
        let count = try await fixture.sql(
            """
            SELECT count(*) FROM (SELECT DISTINCT d.priority, d.validity, d.target_kind, d.one_per_user, d.ambiguity_policy,
                d.max_retries, d.retry_period_seconds, d.retry_schedule FROM pushmta_engine.delivery d) x
            """
        )
        #expect(count == 1)
        let defaults = try await fixture.sql(
            """
            SELECT count(*) FROM pushmta_engine.delivery d WHERE d.priority = \(DeliverySetting.defaultPriority)
                AND d.validity = make_interval(secs => \(DeliverySetting.defaultValiditySeconds))
                AND d.ambiguity_policy = '\(DeliverySetting.defaultAmbiguityPolicy.rawValue)'
                AND d.max_retries = \(DeliverySetting.defaultMaxRetries) AND d.retry_schedule = 'default'
                AND d.retry_period_seconds IS NULL AND d.weight = \(DeliverySetting.defaultWeight)
            """
        )
        #expect(defaults == Int64(names.count + 1))
    }

    @Test("The targets of a started delivery are frozen, even for inserts under way", .timeLimit(.minutes(2)))
    func frozen() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery(explicit: true)
        let writer = try await fixture.database.connect()
        try await writer.run(
            script: "BEGIN; INSERT INTO pushmta.delivery_target (delivery_id, user_key) VALUES (\(id), 'a')"
        )
        async let starting: Void = fixture.store.startDelivery(id)
        let watcher = try await fixture.database.connect()
        let waiting = PostgresStatement(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
            prepare: false
        )
        while try await watcher.execute(waiting).int64(0, 0) == 0 { await Task.yield() }
        try await writer.run(script: "COMMIT")
        try await starting
        await #expect {
            try await writer.run(
                script: "INSERT INTO pushmta.delivery_target (delivery_id, user_key) VALUES (\(id), 'b')"
            )
        } throws: {
            ($0 as? PostgresError)?.sqlState == "PM006"
        }
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.delivery_target") == 1)
    }

    @Test("Delivery ids match PushCore's: only the hexadecimal digits 0 to 9")
    func ids() async throws {
        let fixture = try await StoreFixture.make()
        for n: Int64 in 1...20 {
            let id = try await fixture.store.createDelivery(
                NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
            )
            #expect(id == DeliveryID.nth(n))
        }
    }

    @Test("A start sets day and validity, and the day has its own key")
    func start() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await fixture.store.deliveryForSending(try await fixture.startedDelivery())
        let second = try await fixture.store.deliveryForSending(try await fixture.startedDelivery())
        #expect(first.trackingKey.count == 16 && first.trackingKey == second.trackingKey)
        #expect(first.state == .pending && first.validUntil != nil && first.messageIDBase == nil)
        let today = try await fixture.sql("SELECT (now() AT TIME ZONE 'UTC')::date - date '2000-01-01'")
        #expect(Int64(first.logDay.daysSince2000) == today)
        let keys = "SELECT count(DISTINCT key) - count(*) FROM pushmta_engine.tracking_key HAVING count(*) > 1"
        #expect(try await fixture.sql(keys) == 0, "each day has a key of its own")
    }

    @Test("The marketing and monitoring roles can do their work and nothing else")
    func roles() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        let marketing = try await fixture.database.connect()
        try await marketing.run(script: "SET ROLE pushmta_marketing")
        let created = try await marketing.execute(
            PostgresStatement("SELECT pushmta.create_delivery('m', ARRAY['shop-ios'], '{\"ios\": {\"title\": \"x\"}}')")
        )
        let id = try created.int64(0, 0)
        try await marketing.execute(PostgresStatement("SELECT pushmta.start_delivery($1)", [.int64(id)]))
        try await fixture.prepare()
        for view in ["delivery_progress", "message_status", "subscription", "application"] {
            #expect(try await marketing.execute(PostgresStatement("SELECT * FROM pushmta.\(view)")).rowCount > 0)
        }
        for table in ["credential", "tracking_key", "delivery_part"] {
            await #expect {
                try await marketing.execute(PostgresStatement("SELECT * FROM pushmta_engine.\(table)"))
            } throws: {
                ($0 as? PostgresError)?.sqlState == "42501"
            }
        }
        let monitoring = try await fixture.database.connect()
        try await monitoring.run(script: "SET ROLE pushmta_monitoring")
        for view in ["mta_host", "mta_child", "delivery_progress", "message_status"] {
            try await monitoring.execute(PostgresStatement("SELECT * FROM pushmta.\(view)"))
        }
        await #expect {
            try await monitoring.execute(PostgresStatement("SELECT * FROM pushmta.subscription"))
        } throws: {
            ($0 as? PostgresError)?.sqlState == "42501"
        }
    }

    @Test("Each role can read all that it may read, with the functions in it")
    func readable() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        for role in ["pushmta_marketing", "pushmta_monitoring", "pushmta_tokens", "pushmta_web", "pushmta_console"] {
            let relations = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT c.oid::regclass::text, string_agg(quote_ident(a.attname), ', ')
                    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN ('pushmta', 'pushmta_engine')
                    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                    WHERE c.relkind IN ('v', 'r', 'p') AND NOT c.relispartition
                        AND has_column_privilege('\(role)', c.oid, a.attnum, 'SELECT')
                    GROUP BY c.oid ORDER BY 1
                    """,
                    prepare: false
                )
            )
            #expect(relations.rowCount > 0, "\(role)")
            try await connection.run(script: "SET ROLE \(role)")
            for row in 0..<relations.rowCount {
                let (name, columns) = (try relations.text(row, 0), try relations.text(row, 1))
                let look = PostgresStatement("SELECT \(columns) FROM \(name) LIMIT 1", prepare: false)
                do {
                    try await connection.execute(look)
                } catch {
                    Issue.record("\(role) cannot read \(name): \(error)")
                }
            }
            try await connection.run(script: "RESET ROLE")
        }
        await connection.close()
    }

    @Test("The contract shows the marketing and monitoring roles no push token; another role can read them")
    func tokens() async throws {
        let fixture = try await StoreFixture.make()
        let token = String(repeating: "c0ffee", count: 11)
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET push_token = '\(token)' WHERE id = 1")
        _ = try await fixture.store.addSeed(NewSeed(name: "ada", application: "shop-ios", address: .subscription(1)))
        let first = try await fixture.startedDelivery()
        try await fixture.prepare()
        let list = try await fixture.store.createDelivery(
            NewDelivery(
                label: "list",
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "x"}}"#,
                explicitTargets: true
            )
        )
        for table in ["delivery_target", "delivery_exclusion"] {
            try await fixture.sql("INSERT INTO pushmta.\(table) (delivery_id, push_token) VALUES (\(list), '\(token)')")
        }
        // The log of exclusions names the target, too.
        try await fixture.store.startDelivery(list)
        try await fixture.prepare()
        let logged = "SELECT count(*) FROM pushmta.exclusion_log WHERE target_token_hash = sha256('\(token)')"
        #expect(try await fixture.sql(logged) == 1)
        let connection = try await fixture.database.connect()
        // What each role may read of the contract, and whether it includes the token.
        func places(_ role: String) async throws -> [String] {
            let readable = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT c.relname, string_agg(quote_ident(a.attname), ', ')
                    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                    WHERE c.relnamespace = 'pushmta'::regnamespace AND c.relkind IN ('v', 'r', 'p')
                        AND has_column_privilege('\(role)', c.oid, a.attnum, 'SELECT')
                    GROUP BY 1 ORDER BY 1
                    """,
                    prepare: false
                )
            )
            #expect(role == "pushmta_tokens" || readable.rowCount > 10)
            try await connection.run(script: "SET ROLE \(role)")
            var found: [String] = []
            for row in 0..<readable.rowCount {
                let name = try readable.text(row, 0)
                let look = "SELECT \(try readable.text(row, 1)) FROM pushmta.\(name)"
                let count = try await connection.execute(
                    PostgresStatement(
                        "SELECT count(*) FROM (\(look)) x WHERE x::text LIKE '%\(token)%'",
                        prepare: false
                    )
                )
                if try count.int64(0, 0) > 0 { found.append(name) }
            }
            try await connection.run(script: "RESET ROLE")
            return found
        }
        #expect(try await places("pushmta_marketing").isEmpty)
        #expect(try await places("pushmta_monitoring").isEmpty)
        #expect(try await places("pushmta_tokens") == ["delivery_exclusion", "delivery_target", "subscription_token"])
        // A caller that knows a token finds its row.
        try await connection.run(script: "SET ROLE pushmta_marketing")
        let known = try await connection.execute(
            PostgresStatement(
                """
                SELECT s.id FROM pushmta.subscription s WHERE s.id IN (SELECT pushmta.find_subscriptions(upper('\(token)')))
                    AND s.token_hash = sha256('\(token)') AND s.token_end = 'c0ffee'
                """,
                prepare: false
            )
        )
        let row = try known.int64(0, 0)
        #expect(known.rowCount == 1 && row == 1)
        try await connection.run(script: "RESET ROLE")
        // No function returns one.
        let told = try required(
            try await fixture.sql(
                """
                SELECT count(*) FROM pg_proc f CROSS JOIN unnest(ARRAY['pushmta_marketing', 'pushmta_monitoring']) r(role)
                WHERE f.pronamespace = 'pushmta'::regnamespace AND has_function_privilege(r.role, f.oid, 'EXECUTE')
                    AND ('push_token' = ANY(f.proargnames[f.pronargs + 1:]) OR EXISTS (SELECT FROM pg_type t
                        JOIN pg_attribute a ON a.attrelid = t.typrelid WHERE t.oid = f.prorettype AND a.attname = 'push_token'))
                """
            )
        )
        #expect(told == 0)
        let words = [
            "pushmta.check_delivery(\(list))", "pushmta.delivery_status(\(list))", "pushmta.find_message('\(first)-1')",
        ]
        try await connection.run(script: "SET ROLE pushmta_marketing")
        for call in words {
            let look = "SELECT count(*) FROM \(call) x WHERE x::text LIKE '%\(token)%'"
            #expect(try await connection.execute(PostgresStatement(look, prepare: false)).int64(0, 0) == 0, "\(call)")
        }
        await connection.close()
    }

    @Test("A subscription's changes are found by time; a registration without news is not a change")
    func changes() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 20)
        let last = "SELECT max(changed_at) FROM pushmta.subscription"
        let mark = "CREATE TABLE IF NOT EXISTS mark AS SELECT (\(last)) AS at; UPDATE mark SET at = (\(last))"
        let after = "SELECT count(*) FROM pushmta.subscription WHERE changed_at > (SELECT at FROM mark)"
        let connection = try await fixture.database.connect()
        func changes(_ script: String) async throws -> Int64 {
            try await connection.run(script: mark)
            try await connection.run(script: script)
            return try await fixture.sql(after) ?? -1
        }
        let table = "UPDATE pushmta_engine.subscription SET"
        #expect(try await changes("\(table) registered_at = now(), soft_errors = 1, enabled = enabled") == 0)
        func registering(locale: String) -> String {
            """
            SELECT r.* FROM pushmta_engine.subscription s CROSS JOIN LATERAL pushmta_engine.register_devices(
                ARRAY[s.application_id], ARRAY[s.push_token], ARRAY[s.user_key], ARRAY[s.device_id], ARRAY[\(locale)],
                ARRAY[s.time_zone], ARRAY[s.device::text], ARRAY[s.recipient::text], ARRAY[s.parameters::text],
                ARRAY[s.extra::text]) r WHERE s.id = 5
            """
        }
        #expect(try await changes(registering(locale: "s.locale")) == 0)
        #expect(try await changes(registering(locale: "'it-IT'")) == 1)
        #expect(try await changes("\(table) push_token = repeat('a', 64) WHERE id = 3") == 1)
        #expect(try await changes("\(table) recipient = '{\"a\": 1}' WHERE id <= 2") == 2)
        #expect(try await changes("SELECT pushmta.set_opt_out(4, true)") == 1)
        // The trigger watches the view's columns, except those that never change and the time itself.
        let looks = try required(
            try await fixture.sql(
                """
                SELECT count(*) FROM pg_attribute a WHERE a.attrelid = 'pushmta.subscription'::regclass AND a.attnum > 0
                    AND a.attname NOT IN ('id', 'application', 'service', 'platform', 'environment', 'application_id', 'created_at',
                        'registered_at', 'changed_at', 'token_hash', 'token_end')
                    AND position('old.' || a.attname IN lower((SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t
                        WHERE t.tgname = 'subscription_changed'))) = 0
                """
            )
        )
        #expect(looks == 0)
        await connection.close()
    }

    @Test("Changes are read in order, by an index, through the view")
    func synchronisation() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2000)
        try await fixture.sql("ANALYZE pushmta_engine.subscription")
        let connection = try await fixture.database.connect()
        // Few rows: a scan of the table would be cheap.
        try await connection.run(script: "SET ROLE pushmta_marketing; SET enable_seqscan = off; SET jit = off")
        func plan(_ rest: String) async throws -> String {
            let rows = try await connection.execute(
                PostgresStatement("EXPLAIN (COSTS OFF) SELECT * FROM pushmta.subscription \(rest)", prepare: false)
            )
            return try (0..<rows.rowCount).map { try rows.text($0, 0) }.joined(separator: "\n")
        }
        let page = try await plan("WHERE (changed_at, id) > ('2026-01-01', 0) ORDER BY changed_at, id LIMIT 10")
        #expect(page.contains("Index Scan using subscription_changes") && !page.contains("Sort"), "\(page)")
        #expect(page.contains("Index Cond: (ROW(changed_at, id) > ROW("), "\(page)")
        await connection.close()
    }

    @Test("A role with the rights of pushmta_runtime can prepare, send and maintain the tables")
    func runtimeRole() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let login = "runtime_\(fixture.database.name)"
        try await fixture.sql("CREATE ROLE \(login) LOGIN IN ROLE pushmta_runtime")
        var configuration = fixture.database.configuration()
        configuration.connectionString += " user=\(login)"
        let runtime = StoreFixture(
            database: fixture.database,
            store: try await Store.connect(configuration),
            other: fixture.other
        )
        let id = try await runtime.startedDelivery()
        try await runtime.prepare()
        // The template database may have been created yesterday.
        _ = try await runtime.store.ensurePartitions(daysAhead: 7)
        #expect(try await runtime.store.ensurePartitions(daysAhead: 8) == 5)
        let part = try required(try await runtime.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await runtime.store.loadPart(part, fieldNames: ["city"]), rows: 0..<64, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1)]
        #expect(try await runtime.store.storeOutcomes(batch).closedParts == [part.id])
        #expect(try await runtime.store.deliveryProgress(id).sent == 64)
        try await runtime.store.openCircuit(application: 1, reason: "x", remedy: "y", holdsTokenEffects: true)
        #expect(try await runtime.store.resumeApplication(named: "shop-ios").wasOpen)
        await runtime.store.close()
        try await fixture.sql("DROP ROLE \(login)")
    }

    @Test("Hosts and children show what they reported")
    func status() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.child()
        var report = ChildReport(pid: 42, state: .sending)
        report.deliveryID = 16
        report.partsHeld = 1
        (report.connections.open, report.connections.wanted) = (2, 5)
        report.connections.reason = "grown"
        report.connections.dispatchWindow = 8_000
        report.counts.sent = 7
        (report.rate, report.latencyP99Milliseconds) = (1.5, 12)
        for (place, count) in ChildCounts.all.enumerated() { report.counts[keyPath: count.path] = Int64(place + 7) }
        // A gateway's answer.
        report.lastError = "a\0b"
        try await fixture.store.recordChildReport(report, child: id)
        report.lastError = "ab"
        #expect(try await fixture.store.children().first?.report == report)
        for count in ChildCounts.all {
            let column = try await fixture.sql("SELECT \(count.name) FROM pushmta.mta_child")
            #expect(column == report.counts[keyPath: count.path], "\(count.name)")
        }
        let child = try required(try await fixture.store.children().first)
        #expect(
            child.report.pid == 42 && child.report.deliveryID == 16 && child.report.counts.sent == 7
                && child.row.connector == .iosHTTP2 && child.exitReason == nil
        )
        // Its own report takes precedence over none, and its supervisor's over its own.
        try await fixture.store.childExited(id, reason: "drained", saidByItself: true)
        try await fixture.store.childExited(id, reason: "orphaned")
        #expect(try await fixture.store.children().isEmpty)
        #expect(try await fixture.store.children(includeExited: true).first?.exitReason == "drained")
        try await fixture.store.childExited(id, reason: "signalled", detail: "signal 11", stderrTail: "ouch")
        try await fixture.store.childExited(id, reason: "idle", saidByItself: true)
        let ended = try required(try await fixture.store.children(includeExited: true).first)
        #expect(ended.exitReason == "signalled" && ended.exitDetail == "signal 11" && ended.stderrTail == "ouch")
        #expect(try await fixture.store.hosts().first?.report.name == "one")
        #expect(try await fixture.store.childKinds().count == 2)
    }
}
