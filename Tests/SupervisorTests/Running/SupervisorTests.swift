import Logging
import OperatingSystem
import PostgresClient
import ProcessProtocol
import PushCore
import Store
import SystemPackage
import Testing

@testable import Supervisor

@Suite(.timeLimit(.minutes(3))) struct SupervisorTests {
    private let alive = "SELECT count(*) FROM pushmta_engine.mta_child WHERE exited_at IS NULL"

    @Test func aDeliveryIsPreparedAndGetsAChild() async throws {
        let site = try await SupervisorSite.make()
        let delivery = try await site.startDelivery()
        try await site.running(site.supervisor()) {
            try await site.wait(for: .inProgress, of: delivery)
            try await site.wait(for: "1", from: alive)
            try await site.waitUntilRunning()
            try await site.wait(for: "1", from: "SELECT children FROM pushmta_engine.mta_host")
        }
        let words = ScriptFile.arguments(in: site.folder).split(whereSeparator: \.isWhitespace).map(String.init)
        let line = try ChildArguments(parsing: words)
        #expect(line.bootID == BootID.current())
        #expect(try await line.installationID == site.store.installationID())
        #expect(line.connector == .iosHTTP2)
        #expect(line.globalOptions == ["--config", "some", "file"] + SupervisorSettings(Settings()).leaseOptions)
        #expect(try await site.value("SELECT exit_reason FROM pushmta_engine.mta_child") == "drained")
        #expect(try await site.value("SELECT state FROM pushmta_engine.mta_host") == "stopped")
        #expect(try await site.value("SELECT version FROM pushmta_engine.mta_host") == "1.2.3")
    }

    @Test func aChildThatIsToBeRecycledHasASuccessorFirst() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        try await site.running(site.supervisor()) {
            try await site.wait(for: "1", from: alive)
            let first = try await site.value("SELECT min(id) FROM pushmta_engine.mta_child") ?? ""
            try await site.connection.run(
                script: "UPDATE pushmta_engine.mta_child SET recycle_requested = true WHERE id = \(first)"
            )
            try await site.wait(
                for: "drained",
                from: "SELECT exit_reason FROM pushmta_engine.mta_child WHERE id = \(first)"
            )
            let next = "SELECT min(id) FROM pushmta_engine.mta_child WHERE id > \(first) AND exited_at IS NULL"
            #expect(try await site.value(next) != nil, "another one came before it left")
        }
    }

    @Test func whatIsAskedAboutADeliveryIsAnswered() async throws {
        let site = try await SupervisorSite.make()
        let delivery = try await site.startDelivery()
        try await site.running(site.supervisor { $0.mta.master.dataBasePoolPeriodSec = 3_600 }) {
            try await site.wait(
                for: "about \(delivery)",
                from: "SELECT c.problem FROM pushmta.count_target(\(delivery)) c"
            )
        }
    }

    @Test func aNotificationIsHeardAtOnce() async throws {
        let site = try await SupervisorSite.make()
        try await site.running(site.supervisor { $0.mta.master.dataBasePoolPeriodSec = 3_600 }) {
            try await site.waitUntilRunning()
            let listening = """
                SELECT count(*) > 0 FROM pg_stat_activity
                WHERE application_name LIKE '%listen%' AND query ILIKE 'listen%'
                """
            try await site.wait(for: "true", from: listening)
            let delivery = try await site.startDelivery()
            try await site.wait(for: .inProgress, of: delivery)
            try await site.wait(for: "1", from: alive)
        }
    }

    @Test func aBadDeliveryGoesBackWithItsReasonAndHarmsNoOther() async throws {
        let site = try await SupervisorSite.make()
        // Such a content is refused when it is written; this update bypasses the check.
        let bad = try await site.startDelivery()
        let content = #"{"android":{"title":"Hello"}}"#
        try await site.connection.run(
            script: "UPDATE pushmta_engine.delivery SET content = '\(content)' WHERE id = \(bad)"
        )
        let good = try await site.startDelivery()
        try await site.running(site.supervisor()) {
            try await site.wait(for: .editing, of: bad)
            try await site.wait(for: .inProgress, of: good)
        }
        let reason = try await site.value("SELECT state_reason FROM pushmta_engine.delivery WHERE id = \(bad)")
        #expect(reason?.contains("shop-ios") == true)
        #expect(reason?.contains("no section") == true)
    }

    @Test func aLongDeliveryAndAShortOneAreMadeInTurns() async throws {
        let site = try await SupervisorSite.make(subscriptions: 400)
        let first = try await site.startDelivery()
        let second = try await site.startDelivery()
        let settings: (inout SupervisorSettings) -> Void = { settings in
            settings.mta.preparation.messagesPerPart = 10
            settings.mta.preparation.partsPerChunk = 2
        }
        try await site.running(site.supervisor(settings)) {
            for id in [first, second] {
                try await site.wait(for: .inProgress, of: id)
                let parts = "FROM pushmta_engine.delivery_part WHERE delivery_id = \(id)"
                #expect(try await site.value("SELECT count(*) || ' ' || sum(size) \(parts)") == "40 400")
            }
        }
        let begun = "SELECT min(id) FROM pushmta_engine.delivery_part WHERE delivery_id = \(second)"
        let ended = "SELECT max(id) FROM pushmta_engine.delivery_part WHERE delivery_id = \(first)"
        #expect(try await site.value("SELECT (\(begun)) < (\(ended))") == "true")
    }

    @Test func moreIsMadeReadyWhenThereIsRoom() async throws {
        let site = try await SupervisorSite.make(subscriptions: 400)
        let first = try await site.startDelivery()
        let second = try await site.startDelivery()
        let settings: (inout SupervisorSettings) -> Void = { settings in
            settings.mta.preparation.messagesPerPart = 10
            settings.mta.preparation.partsPerChunk = 2
            settings.mta.preparation.maxReadyParts = 4
        }
        let ready =
            "SELECT string_agg(n::text, ' ' ORDER BY id) FROM (SELECT d.id, count(p.id) AS n FROM pushmta_engine.delivery d"
            + " LEFT JOIN pushmta_engine.delivery_part p ON p.delivery_id = d.id WHERE d.id IN (\(first), \(second)) GROUP BY 1) n"
        try await site.running(site.supervisor(settings)) {
            try await site.wait(for: "2 2", from: ready)
            // This shows that the supervisor has looked and prepared no more.
            let since = try await site.value("SELECT now()") ?? ""
            let seen =
                "SELECT count(*) FROM pushmta_engine.delivery WHERE state = 'preparing' AND changed_at > '\(since)'"
            try await site.wait(for: "2", from: seen)
            #expect(try await site.value(ready) == "2 2")
            try await site.connection.run(
                script: "UPDATE pushmta_engine.delivery SET priority = -1 WHERE id = \(second);"
                    + "UPDATE pushmta_engine.delivery_part SET priority = -1 WHERE delivery_id = \(second)"
            )
            try await site.wait(for: "4 2", from: ready)
        }
    }

    @Test func anEmptyDeliveryIsFinished() async throws {
        let site = try await SupervisorSite.make(subscriptions: 0)
        let delivery = try await site.startDelivery()
        try await site.running(site.supervisor()) {
            try await site.wait(for: .finished, of: delivery)
        }
    }

    @Test func aChildThatDiesEarlyLeavesItsStderrTailAndIsThrottled() async throws {
        let site = try await SupervisorSite.make(script: "echo 'no such certificate' >&2; exit 78")
        _ = try await site.startDelivery()
        try await site.running(site.supervisor()) {
            try await site.wait(for: "settings", from: "SELECT exit_reason FROM pushmta_engine.mta_child")
            let alarm = """
                SELECT h.alarm LIKE format('Children for application %s through account %s (%%', a.name, e.name)
                    AND h.alarm_remedy LIKE format('%%`pushmta app resume %s`%%', a.name)
                FROM pushmta.alarm x, pushmta_engine.mta_host h, pushmta_engine.application a, pushmta_engine.external_account e
                WHERE x.code = 'host_alarm' AND x.text = h.alarm AND x.remedy = h.alarm_remedy
                """
            try await site.wait(for: "true", from: alarm)
        }
        #expect(try await site.value("SELECT stderr_tail FROM pushmta_engine.mta_child") == "no such certificate")
        #expect(try await site.value("SELECT count(*) FROM pushmta_engine.mta_child") == "1")
    }

    @Test func aMissingExecutableIsRecorded() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        try await site.running(site.supervisor { $0.mta.master.executablePath = "/nowhere/pushmta" }) {
            try await site.wait(for: "not_started", from: "SELECT exit_reason FROM pushmta_engine.mta_child")
        }
        let detail = try await site.value("SELECT exit_detail FROM pushmta_engine.mta_child")
        #expect(detail?.contains("/nowhere/pushmta") == true)
    }

    @Test func aSecondSupervisorOfTheFolderIsRefused() async throws {
        let site = try await SupervisorSite.make()
        try await site.running(site.supervisor()) {
            try await site.waitUntilRunning()
            #expect(try Supervisor.running(in: site.folder.path.appending("host").string) == getpid())
            let error = await #expect(throws: SupervisorError.self) { try await site.supervisor().run() }
            #expect(error?.code == .folderInUse)
            #expect(error?.message.contains("test, process") == true)
        }
    }

    @Test func aRequestInTheDatabaseEndsIt() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        let supervisor = site.supervisor()
        let run = Task { try await supervisor.run() }
        try await site.wait(for: "1", from: alive)
        try await site.waitUntilRunning()
        let host = try await site.value("SELECT id FROM pushmta_engine.mta_host")
        try await site.store.requestDrain(host: try #require(host))
        try await run.value
        #expect(try await site.value("SELECT state FROM pushmta_engine.mta_host") == "stopped")
        try await site.running(site.supervisor()) { try await site.waitUntilRunning() }
    }

    @Test func nothingIsStartedWhileTheJournalFolderIsAway() async throws {
        let site = try await SupervisorSite.make()
        let host = site.folder.path.appending("host").string
        try await site.running(site.supervisor()) {
            try await site.waitUntilRunning()
            try FileManager.default.removeItem(atPath: host)
            let alarm = "SELECT alarm FROM pushmta_engine.mta_host"
            try await site.wait(for: "true", from: "SELECT (\(alarm)) LIKE 'Journals cannot be written%'")
            let delivery = try await site.startDelivery()
            try await site.wait(for: .inProgress, of: delivery)
            try FileManager.default.createDirectory(atPath: host, withIntermediateDirectories: true)
            try await site.wait(for: "1", from: alive)
            try await site.wait(for: "", from: alarm)
        }
        let started = "SELECT count(*) FROM pushmta_engine.mta_child"
        #expect(try await site.value(started) == "1")
    }

    @Test func lostConnectionsAreMadeAgain() async throws {
        let site = try await SupervisorSite.make()
        try await site.running(site.supervisor()) {
            try await site.waitUntilRunning()
            _ = try await site.value(
                """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE application_name LIKE '%supervisor%'
                """
            )
            let delivery = try await site.startDelivery()
            try await site.wait(for: .inProgress, of: delivery)
            try await site.wait(for: "1", from: alive)
        }
    }

    @Test func aSupervisorThatNeverSawItsDatabaseEndsWhenAsked() async throws {
        let folder = try TemporaryFolder()
        var settings = SupervisorSettings(Settings())
        settings.mta.workingPath = folder.path.string
        settings.metrics = .off
        let attempted = EventCollector()
        let supervisor = Supervisor(
            settings: settings,
            connect: { _ in
                attempted.tell(.tick)
                throw NoDatabase()
            },
            analyst: DeliveryAnalyst(
                analyse: { _, _ in throw NoDatabase() },
                trial: { _ in nil },
                look: { _, _ in throw NoDatabase() }
            ),
            reload: { SupervisorSettings(Settings()) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        let run = Task { try await supervisor.run() }
        for _ in 0..<3 { #expect(await attempted.first { _ in true } == .tick) }
        supervisor.drain()
        try await run.value
    }

    @Test func reloadReplacesTheChild() async throws {
        let site = try await SupervisorSite.make()
        _ = try await site.startDelivery()
        let supervisor = site.supervisor()
        try await site.running(supervisor) {
            try await site.wait(for: "1", from: alive)
            supervisor.reload()
            try await site.wait(for: "2", from: "SELECT count(*) FROM pushmta_engine.mta_child")
            try await site.wait(for: "1", from: alive)
        }
    }

    @Test func aStubbornChildIsKilledByAFastShutdown() async throws {
        let site = try await SupervisorSite.make(script: "trap '' TERM; touch $0.ready; while :; do sleep 0.05; done")
        _ = try await site.startDelivery()
        let supervisor = site.supervisor()
        try await site.running(supervisor) {
            try await site.wait { site.folder.contains("child.sh.ready") }
            supervisor.drain()
        }
        #expect(try await site.value("SELECT exit_reason FROM pushmta_engine.mta_child") == "drain_timeout")
        #expect(try await site.value("SELECT exit_detail FROM pushmta_engine.mta_child") == "signal 9")
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Why a connection cannot be established.
private struct NoDatabase: Error {}
