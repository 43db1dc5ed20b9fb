import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// What `status`, `app list` and `quarantine` show for a database with many problems.
@Suite struct StatusTests {
    private let program: Program
    private let database: TestDatabase
    private let store: Store

    init() async throws {
        program = try Program.pushmta()
        database = try await TestDatabase.create()
        store = Store(configuration: database.configuration())
    }

    private func run(_ arguments: String..., expect status: Int32 = 0) async throws -> Program.Ending {
        let ending = try await program.run(
            arguments,
            environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
        )
        #expect(ending.status == status, "\(arguments): \(ending.output) \(ending.errors)")
        return ending
    }

    private func rows(_ table: String, of status: [String: Any]) throws -> [[String: Any]] {
        try #require(status[table] as? [[String: Any]], "\(table)")
    }

    /// Creates a host whose last heartbeat is this many seconds old, and returns its id.
    private func addHost(_ name: String, version: String = "1.0", age: Double = 0, alarm: String = "") async throws
        -> String
    {
        let id = UUID().uuidString.lowercased()
        try await store.registerHost(
            HostReport(
                id: id,
                name: name,
                pid: 1,
                version: version,
                schemaVersion: Store.schemaVersion,
                state: .running,
                journalFolder: "/nowhere",
                journalReplayed: 3,
                alarm: alarm
            )
        )
        try await sql(
            "UPDATE pushmta_engine.mta_host SET last_heartbeat = now() - \(age) * interval '1 s' WHERE id = '\(id)'"
        )
        return id
    }

    private func sql(_ text: String) async throws {
        let connection = try await database.connect()
        try await connection.run(script: text)
        await connection.close()
    }

    private func addApplication() async throws -> ApplicationRow {
        _ = try await store.createService(name: "shop", label: "Shop")
        _ = try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 443)
        return try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios",
                platform: .ios,
                integrationKey: "key",
                bundleID: "com.example.shop",
                account: "apns"
            )
        )
    }

    @Test func lateGoneAndMixedHostsAreNamed() async throws {
        _ = try await addHost("alpha", alarm: "the journal's disk is full")
        _ = try await addHost("beta", version: "1.1", age: 8)
        _ = try await addHost("gamma", age: 100)
        let status = try await run("status", "--json").json()
        let hosts = try rows("hosts", of: status)
        let health = Dictionary(
            uniqueKeysWithValues: hosts.map { ($0["name"] as? String ?? "", $0["health"] as? String ?? "") }
        )
        #expect(health == ["alpha": "alive", "beta": "late", "gamma": "gone"])
        let mixed = Set(hosts.filter { $0["version_mixed"] as? Bool == true }.compactMap { $0["name"] as? String })
        #expect(mixed.isSuperset(of: ["alpha", "beta"]))
        let alarms = try rows("alarms", of: status).map { "\($0["subject"] ?? ""): \($0["alarm"] ?? "")" }
        for words in ["host alpha: the journal's disk", "host beta: it has not reported", "host gamma: ", "versions: "]
        {
            #expect(alarms.contains { $0.hasPrefix(words) }, "\(words) is not in \(alarms)")
        }
        #expect(hosts.allSatisfy { $0["journal_replayed"] is Int && $0["late_outcomes"] is Int })
        let text = try await run("status").output
        #expect(text.contains("gamma") && text.contains("gone") && text.contains("1.1"))
    }

    /// If an administrator has locked a table, the others are still shown, and so is the holder of the lock.
    @Test func whatIsLockedIsNamed() async throws {
        _ = try await addHost("alpha")
        let holder = try await database.connect()
        try await holder.run(
            script: """
                BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET application_name = 'maintenance';
                LOCK TABLE pushmta_engine.broad_log, pushmta_engine.delivery_part, pushmta_engine.schema_version
                """
        )
        let text = try await run("status").output
        #expect(text.contains("deliveries: not readable: session") && text.contains("maintenance"), "\(text)")
        #expect(text.contains("lock_held") && text.contains("alpha"), "\(text)")
        let status = try await run("status", "--json").json()
        #expect(try rows("unreadable", of: status).contains { $0["section"] as? String == "deliveries" })
        try await holder.run(script: "ROLLBACK")
        #expect(try await !run("status").output.contains("not readable"))
        await holder.close()
    }

    /// After a jump of the clock everything looks old. If the clock is right, no action is needed.
    @Test func whatRetentionHoldsIsAnAlarm() async throws {
        try await sql(
            """
            INSERT INTO pushmta_engine.retention_hold (what, rounds) VALUES ('partitions of broad_log', 1), ('token events', 145)
            """
        )
        let alarms = try rows("alarms", of: try await run("status", "--json").json())
        let held = alarms.filter { ($0["subject"] as? String)?.hasPrefix("retention ") == true }
        #expect(held.map { $0["subject"] as? String } == ["retention partitions of broad_log"])
        let text = "\(held.first?["alarm"] ?? "") \(held.first?["remedy"] ?? "")"
        #expect(text.contains("clock says 20") && text.contains("automatically in 24 h"), "\(text)")
    }

    @Test func childrenShowTheirCountersAndTheirEnd() async throws {
        let application = try await addApplication()
        let host = try await addHost("alpha")
        let account = try #require(application.accountID)
        let row = ChildRow(
            hostID: host,
            generation: 1,
            applicationID: application.id,
            accountID: account,
            connector: .iosHTTP2
        )
        let living = try await store.insertChild(row)
        let dead = try await store.insertChild(row)
        var report = ChildReport(pid: 7, state: .sending)
        (report.counts.sent, report.counts.unknown) = (5, 2)
        (report.counts.resentAfterAmbiguity, report.counts.lateOutcomes) = (3, 4)
        try await store.recordChildReport(report, child: living)
        try await store.childExited(dead, reason: "signalled", detail: "signal 9", stderrTail: "one\ntwo")
        let status = try await run("status", "--json", "--ended").json()
        let child = try #require(try rows("children", of: status).first)
        #expect(child["application"] as? String == "shop-ios" && child["host"] as? String == "alpha")
        #expect(child["health"] as? String == "alive")
        #expect(child["unknown"] as? Int == 2 && child["resent_after_ambiguity"] as? Int == 3)
        #expect(child["late_outcomes"] as? Int == 4)
        let ended = try #require(try rows("ended_children", of: status).first)
        #expect(ended["exit_reason"] as? String == "signalled" && ended["stderr_tail"] as? String == "one\ntwo")
        let text = try await run("status", "--ended").output
        #expect(text.contains("Standard error: one | two"))
        #expect(text.contains("unknown 2, resent after ambiguity 3, late outcomes 4") && !text.contains("retried"))
        // Ids and zeros are shown only on request.
        #expect(!text.contains(host))
        #expect(try await run("status", "--wide").output.contains(host))
    }

    @Test func noLineIsWiderThan120ColumnsHoweverLongNamesAre() async throws {
        let application = try await addApplication()
        let host = try await addHost(
            String(repeating: "host-", count: 30),
            alarm: String(repeating: "disk ", count: 90)
        )
        let row = ChildRow(
            hostID: host,
            generation: 1,
            applicationID: application.id,
            accountID: try #require(application.accountID),
            connector: .iosHTTP2
        )
        var report = ChildReport(pid: 4_000_000, state: .sending)
        (report.counts.sent, report.counts.unknown) = (123_456_789_012, 2)
        report.lastError = String(repeating: "/var/lib/", count: 60)
        try await store.recordChildReport(report, child: try await store.insertChild(row))
        let dead = try await store.insertChild(row)
        try await store.childExited(dead, reason: "signalled", detail: "signal 9", stderrTail: "one\ntwo")
        let delivery = try await store.createDelivery(
            NewDelivery(
                label: String(repeating: "夏の特売", count: 100),
                applications: ["shop-ios"],
                content: #"{"ios": {"title": "a"}}"#
            )
        )
        try await store.startDelivery(delivery)
        try await store.openCircuit(
            application: application.id,
            reason: String(repeating: "APNs answered 403 ", count: 12),
            remedy: "set another key",
            holdsTokenEffects: true
        )
        try await sql(
            """
            UPDATE pushmta_engine.application SET name = repeat('application-', 15);
            UPDATE pushmta_engine.external_account SET name = repeat('アカウント', 13)
            """
        )
        let lines = try await run("status", "--ended").output.split(separator: "\n").map(String.init)
        let wide = lines.filter { DisplayWidth.of($0) > StatusText.width }
        #expect(wide.isEmpty, "\(wide)")
        // The words may be cut or wrapped, but are there.
        for words in ["host-host", "application-", "夏の特売", "disk disk", "123456789012", "held", "アカウント", "lib//var"] {
            #expect(lines.contains { $0.contains(words) }, "\(words)")
        }
        #expect(
            try await run("status", "--wide").output.split(separator: "\n").contains { $0.count > StatusText.width }
        )
        #expect(try await run("status", "--wide", "--json", expect: 64).errors.contains("--wide"))
    }

    @Test func aRunningDeliveryIsShownBehindManyNewerOnes() async throws {
        _ = try await addApplication()
        var ids: [Int64] = []
        for _ in 0...50 {
            let delivery = NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
            ids.append(try await store.createDelivery(delivery))
        }
        try await store.startDelivery(ids[0])
        let shown = try rows("deliveries", of: try await run("status", "--json").json())
        #expect(shown.contains { ($0["id"] as? Int).map(Int64.init) == ids[0] })
        #expect(shown.count == 51)
    }

    @Test(arguments: [["delivery", "list"], ["subscription", "list"], ["quarantine", "list"]])
    func aLimitThatIsNoneIsAMistakeOfUse(command: [String]) async throws {
        for limit in ["-1", "0", "100001", "99999999999999999999"] {
            let ending = try await program.run(
                command + ["--limit=\(limit)"],
                environment: ["PUSHMTA_DATABASE_URL": database.connectionString]
            )
            #expect(ending.status == 64 && ending.errors.contains("--limit"), "\(limit): \(ending.errors)")
        }
    }

    @Test func onlyAReplicaThatNobodyWaitsForIsWorthAWarning() {
        let none = [(name: "synchronous_standby_names", value: "")]
        #expect(DatabaseChecks.failOver(none, replicas: 0).result == .ok)
        #expect(DatabaseChecks.failOver(none, replicas: 1).result == .warning)
        let named = [(name: "synchronous_standby_names", value: "b")]
        #expect(DatabaseChecks.failOver(named, replicas: 1).result == .ok)
    }

    @Test func theDoctorWarnsOfAServerThatIsNewerThanTheTests() {
        for known in ["15.18 (Debian 15.18-0+deb12u1)", "16.14", "18.6", "18beta1"] {
            #expect(DatabaseChecks.version([(name: "server_version", value: known)]).isEmpty, "\(known)")
        }
        for unknown in ["19.1", "19devel", "2147483647"] {
            let said = DatabaseChecks.version([(name: "server_version", value: unknown)])
            #expect(said.map(\.result) == [.warning] && said[0].detail.contains("15 to 18"), "\(said)")
        }
        for strange in ["", "devel", "99999999999"] {
            #expect(DatabaseChecks.version([(name: "server_version", value: strange)]).isEmpty, "\(strange)")
        }
    }

    @Test func theDoctorTellsOfRolesAndRightsThatAreMissing() async throws {
        let connection = try await database.connect()
        try await connection.run(script: "REVOKE SELECT ON pushmta.mta_host FROM pushmta_monitoring")
        let environment = ["PUSHMTA_DATABASE_URL": database.connectionString]
        let ill = try await program.run(["doctor"], environment: environment)
        #expect(
            ill.status == 1 && ill.output.contains("GRANT SELECT ON pushmta.mta_host TO pushmta_monitoring"),
            "\(ill)"
        )
        let repair = try await program.run(["migrate"], environment: environment)
        #expect(repair.status == 0 && repair.output.contains("repaired: GRANT SELECT ON pushmta.mta_host"), "\(repair)")
        let well = try await program.run(["doctor"], environment: environment)
        #expect(well.output.contains("complete") && !well.output.contains("pushmta_monitoring"), "\(well)")
        await connection.close()
        let rights = DatabaseChecks.rights(SchemaRights(roles: ["CREATE ROLE pushmta_web NOLOGIN;"], grants: []))
        #expect(rights.map(\.result) == [.failed, .skipped])
        #expect(rights.first?.detail.contains("CREATE ROLE pushmta_web NOLOGIN;") == true)
    }

    @Test func aUserIsForgottenOnRequest() async throws {
        try await store.createService(name: "shop", label: "Shop")
        try await store.createApplication(
            NewApplication(service: "shop", name: "shop-ios", platform: .ios, integrationKey: "k", bundleID: "com.shop")
        )
        try await store.seedSubscriptions(application: "shop-ios", count: 2)
        let forget = ["subscription", "forget", "--service", "shop", "--user-key", "shop-ios-1"]
        let environment = ["PUSHMTA_DATABASE_URL": database.connectionString]
        let first = try await program.run(forget, environment: environment)
        #expect(first.status == 0 && first.output.contains("subscriptions 1, targets 0"), "\(first)")
        let second = try await program.run(forget, environment: environment)
        #expect(second.status == 0 && second.output.contains("no such user"), "\(second)")
        let list = try await run("subscription", "list")
        #expect(!list.output.contains("shop-ios-1") && list.output.contains("shop-ios-2"))
        _ = try await run("subscription", "forget", "--service", "shp", "--user-key", "x", expect: 65)
    }

    @Test func anOpenCircuitSaysWhyAndIsClosedByHand() async throws {
        let application = try await addApplication()
        try await store.openCircuit(
            application: application.id,
            account: application.accountID,
            reason: "APNs answered 403 InvalidProviderToken",
            remedy: "give the application a key that is not revoked",
            holdsTokenEffects: false
        )
        let row = try #require(try await run("app", "list", "--json").rows().first)
        #expect(row["circuit"] as? String == "open")
        #expect((row["circuit_reason"] as? String)?.contains("InvalidProviderToken") == true)
        #expect((row["circuit_remedy"] as? String)?.contains("not revoked") == true)
        #expect(row["next_probe_s"] is Double)
        let alarms = try rows("alarms", of: try await run("status", "--json").json())
        #expect(alarms.contains { $0["subject"] as? String == "application shop-ios" })

        let resumed = try await run("app", "resume", "shop-ios").output
        #expect(resumed.contains("was closed") && resumed.contains("InvalidProviderToken"))
        #expect(try await run("app", "list", "--json").rows().first?["circuit"] as? String == "closed")
        #expect(try await run("app", "resume", "shop-ios").output.contains("already closed"))
    }

    @Test func tokenEventsAreListedAndUndone() async throws {
        let application = try await addApplication()
        try await store.seedSubscriptions(application: "shop-ios", count: 3)
        let id = try await store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios":{"title":"x"}}"#)
        )
        #expect(try await run("quarantine", "list").output.contains("No gateway"))
        try await sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, reason, since)
            SELECT \(application.id), id, 'invalid', \(id), 'BadDeviceToken', NULL FROM pushmta_engine.subscription
            """
        )
        let pending = try #require(try await run("quarantine", "list", "--json").rows().first)
        #expect(pending["delivery"] as? Int64 == id && pending["pending"] as? Int == 3)
        #expect(pending["application"] as? String == "shop-ios" && pending["reason"] as? String == "BadDeviceToken")
        _ = try await store.applyTokenEvents(limit: 100)
        let applied = try await run("quarantine", "list", "--delivery", String(id), "--json").rows().first
        #expect(applied?["applied"] as? Int == 3)

        #expect(try await run("quarantine", "undo", "--delivery", String(id)).output.contains("undone: 3"))
        let undone = try await run("quarantine", "list", "--json").rows().first
        #expect(undone?["undone"] as? Int == 3 && undone?["applied"] as? Int == 0)
        #expect(try await run("quarantine", "undo", "--delivery", String(id)).output.contains("no token events"))
        let subscriptions = try await store.subscriptions(application: "shop-ios", service: nil, limit: 10)
        #expect(subscriptions.count == 3 && subscriptions.allSatisfy { $0.enabled })
    }

    @Test func monitoringSeesAllOfIt() async throws {
        let application = try await addApplication()
        _ = try await addHost("alpha", alarm: "the journal's disk is full")
        _ = try await addHost("beta", age: 100)
        try await store.seedSubscriptions(application: "shop-ios", count: 3)
        let id = try await store.createDelivery(
            NewDelivery(label: "x", applications: ["shop-ios"], content: #"{"ios":{"title":"x"}}"#)
        )
        try await store.startDelivery(id)
        try await store.openCircuit(application: application.id, reason: "APNs answered 403", remedy: "set another key")
        let watcher = "watcher_\(database.name)"
        try await sql("CREATE ROLE \(watcher) LOGIN IN ROLE pushmta_monitoring")
        let connection = database.connectionString.replacing("user=postgres", with: "user=\(watcher)")
        let environment = ["PUSHMTA_DATABASE_URL": connection]
        let shown = try await program.run(["status", "--json", "--ended"], environment: environment)
        #expect(shown.status == 0, "\(shown.errors)")
        let seen = try shown.json()
        let whole = try await run("status", "--json", "--ended").json()
        #expect(Set(seen.keys) == Set(whole.keys) && seen.count == 8)
        for table in ["hosts", "applications", "deliveries", "queues"] {
            #expect(try rows(table, of: seen).count == rows(table, of: whole).count, "\(table)")
        }
        #expect(try rows("hosts", of: seen).count == 2 && rows("deliveries", of: seen).count == 1)
        let codes = try rows("alarms", of: seen).map { $0["code"] as? String }
        #expect(codes == ["circuit_open", "host_alarm", "host_gone"], "\(codes)")
        let remedies = try rows("alarms", of: seen).map { $0["remedy"] as? String }
        #expect(remedies.first == "set another key" && remedies.last??.contains("pushmta host remove") == true)
        let text = try await program.run(["status"], environment: environment)
        #expect(text.status == 0 && text.output.contains("circuit_open"))
        let queue = try await program.run(["queue", "--json"], environment: environment)
        #expect(queue.status == 0, "\(queue.errors)")
        // Without a terminal it prints one look.
        let top = try await program.run(["top"], environment: environment)
        #expect(top.status == 0, "\(top.errors)")
        for words in ["alpha", "beta", "shop-ios", "circuit_open", "hosts 1/2", "deliveries 1"] {
            #expect(top.output.contains(words) && !top.output.contains("\u{1B}"), "\(words): \(top.output)")
        }
        // The role may only read.
        for words in [["host", "remove", "beta"], ["app", "list"], ["delivery", "stop", String(id)]] {
            #expect(try await program.run(words, environment: environment).status == 69, "\(words)")
        }
        try await sql("DROP ROLE \(watcher)")
    }

    @Test func aHostThatIsGoneIsRemovedByItsName() async throws {
        _ = try await addHost("alpha")
        let gone = try await addHost("beta", age: 100)
        #expect(try await run("host", "remove", "alpha", expect: 65).errors.contains("supervisor drain"))
        #expect(try await run("host", "remove", "gamma", expect: 65).errors.contains("pushmta status shows the hosts"))
        #expect(
            try await run("host", "remove", "beta").output.contains("Host beta (\(gone)) was removed, with 0 children.")
        )
        #expect(try rows("hosts", of: try await run("status", "--json").json()).count == 1)
    }
}
