import CurlClient
import Foundation
import PostgresClient
import PushCore
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The whole product, as real processes: PostgreSQL, simulator, supervisor, children, web process, feedback worker.
@Suite(.serialized) struct QuickstartTests {
    private let folder: TemporaryFolder
    private let program: Program

    init() throws {
        folder = try TemporaryFolder()
        program = try Program.pushmta()
    }

    private func quickstart(_ arguments: [String]) async throws -> Program.Ending {
        try await Program.lab().run(["quickstart"] + arguments + ["--folder", folder.path + "/site"])
    }

    /// Whether any process of the site runs.
    private func isAnythingUp() async throws -> Bool {
        let site = try TestSite(folder: folder.path + "/site")
        let processes = [site.simulator, site.supervisor, site.web, site.feedback, site.console]
        if processes.contains(where: { $0.running != nil }) { return true }
        return await site.cluster.isRunning()
    }

    /// Removes the site's cluster, which lies outside the folder.
    private func removeCluster() throws {
        try TestSite(folder: folder.path + "/site").remove()
    }

    private func check(_ ending: Program.Ending, messages: Int) throws -> String {
        #expect(ending.status == 0, "\(ending.errors)")
        let line = try ending.json()
        #expect(line["accepted"] as? Int == messages)
        #expect(line["failed"] as? Int == 0)
        #expect(line["lost"] as? Int == 0)
        #expect(line["duplicates"] as? Int == 0)
        #expect(line["apns"] as? Int == messages - messages / 2)
        #expect(line["fcm"] as? Int == messages / 2)
        #expect(line["seconds"] is Double)
        // Every device reports its message; every tenth user opens it.
        #expect(line["received"] as? Int == messages)
        #expect(line["clicked"] as? Int == messages / 10)
        #expect((line["web"] as? String)?.hasPrefix("http://127.0.0.1:") == true)
        let applications = try #require(line["applications"] as? [[String: String]])
        #expect(applications.map { $0["platform"] } == ["ios", "android"])
        #expect(applications.allSatisfy { $0["integrationKey"]?.isEmpty == false })
        #expect((line["console"] as? String)?.hasPrefix("http://127.0.0.1:") == true)
        #expect(line["consoleUser"] as? String == "quickstart")
        #expect((line["consolePassword"] as? String)?.count == 23)
        return try #require(line["database"] as? String)
    }

    @Test func aDeliveryArrivesWholeAndNothingIsLeftRunning() async throws {
        _ = try check(try await quickstart(["run", "--json", "--messages", "601"]), messages: 601)
        #expect(try await !isAnythingUp())
        try removeCluster()
    }

    @Test func whatIsDetachedStaysUpUntilSomebodyAsksForAFreshOne() async throws {
        let database = try check(
            try await quickstart(["run", "--json", "--detach", "--messages", "400"]),
            messages: 400
        )
        do {
            try await checkTables(database, messages: 400)
            try await checkCommands()
            try await checkConsole()
            let again = ["run", "--json", "--detach", "--messages", "200"]
            let refused = try await quickstart(again)
            #expect(
                refused.status == 75 && refused.errors.contains("A site is running")
                    && refused.errors.contains("--fresh")
            )
            try await checkTables(database, messages: 400)
            _ = try check(try await quickstart(again + ["--fresh"]), messages: 200)
            try await checkTables(database, messages: 200)
        } catch {
            _ = try await quickstart(["stop"])
            throw error
        }
        let stopped = try await quickstart(["stop", "--json"])
        #expect(stopped.status == 0, "\(stopped.errors)")
        #expect(try stopped.json()["stopped"] as? Bool == true && stopped.errors.isEmpty)
        #expect(try await !isAnythingUp())
        try removeCluster()
    }

    @Test func whatSomebodyHasAddedIsNotDeleted() async throws {
        _ = try check(try await quickstart(["run", "--json", "--messages", "20"]), messages: 20)
        let site = try TestSite(folder: folder.path + "/site")
        // A site with only the sample is deleted without a question.
        _ = try check(try await quickstart(["run", "--json", "--messages", "30"]), messages: 30)
        try await site.cluster.start()
        let config = ["--config", folder.path + "/site/pushmta.yaml"]
        let file = try folder.write("push_token,user_key\n\(String(repeating: "0a", count: 32)),ann\n", to: "a.csv")
        for words in [["service", "add", "shop"], ["subscription", "import", file, "--app", "sample-ios"]] {
            #expect(try await program.run(words + config).status == 0)
        }
        for isUp in [true, false] {
            if !isUp { #expect(try await quickstart(["stop"]).status == 0) }
            let refused = try await quickstart(["run", "--json", "--messages", "20"])
            #expect(refused.status == 65, "\(refused.output) \(refused.errors)")
            #expect(refused.errors.contains("1 services, 1 subscriptions") && refused.errors.contains("--fresh"))
            #expect(await site.cluster.isRunning() == isUp)
        }
        try await site.cluster.start()
        #expect(try await program.run(["service", "list", "--json"] + config).rows().count == 2)
        _ = try check(try await quickstart(["run", "--json", "--messages", "20", "--fresh"]), messages: 20)
        #expect(try await !isAnythingUp())
        try removeCluster()
    }

    @Test func theFolderIsAllThereIs() async throws {
        let path = folder.path + "/site"
        let socket = PrivateCluster.folder(forSite: path)
        _ = try check(try await quickstart(["run", "--json", "--messages", "20"]), messages: 20)
        let site = try TestSite(folder: path)
        #expect(site.cluster.data == path + "/postgres/data" && site.cluster.log.hasPrefix(path))
        #expect(FileManager.default.fileExists(atPath: site.cluster.data + "/PG_VERSION"))
        #expect(!FileManager.default.fileExists(atPath: socket), "the socket's folder goes with the server")
        // It starts again, and removing its folder removes everything.
        try await site.cluster.start()
        #expect(FileManager.default.fileExists(atPath: socket))
        try await site.cluster.stop()
        try FileManager.default.removeItem(atPath: path)
        #expect(!FileManager.default.fileExists(atPath: socket))
        #expect(try await !isAnythingUp())
    }

    @Test func aFolderThatTheServersUserMayNotEnterIsSaid() async throws {
        // Only root's server runs as another user.
        guard getuid() == 0 else { return }
        let closed = folder.path + "/closed"
        try FileManager.default.createDirectory(
            atPath: closed,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        let ending = try await Program.lab().run(
            ["quickstart", "run", "--json", "--messages", "20", "--folder", closed + "/site"]
        )
        #expect(ending.status == 0 && ending.errors.contains("may not enter \(closed)/site"), "\(ending.errors)")
        let site = try TestSite(folder: closed + "/site")
        #expect(ending.errors.contains(site.cluster.dataFolder) && site.cluster.dataFolder.hasPrefix("/tmp/"))
        let link = try FileManager.default.destinationOfSymbolicLink(atPath: closed + "/site/postgres")
        #expect(link == site.cluster.folder)
        try site.remove()
    }

    @Test func theSettingsOfSomethingElseAreLeftAlone() async throws {
        let path = folder.path + "/site"
        try FileManager.default.createDirectory(atPath: path + "/journal", withIntermediateDirectories: true)
        _ = try folder.write("database: {url: \"host=db.example\"}\n", to: "site/pushmta.yaml")
        _ = try folder.write("parts", to: "site/journal/1.journal")
        for words in [[], ["--fresh"]] {
            let refused = try await quickstart(["run", "--json", "--messages", "20"] + words)
            #expect(refused.status == 65 && refused.errors.contains("another --folder"), "\(refused.errors)")
        }
        #expect(FileManager.default.fileExists(atPath: path + "/journal/1.journal"))
        #expect(try await !isAnythingUp())
    }

    /// The console is up and has only a console's rights. The password of its first user only serves to choose another
    /// one.
    private func checkConsole() async throws {
        let site = try TestSite(folder: folder.path + "/site")
        let settings = try String(contentsOfFile: site.settingsFile, encoding: .utf8)
        let port = try #require(settings.firstMatch(of: /console:\n  port: (\d+)/).map { String($0.1) })
        let page = try await CurlClient().perform(CurlRequest(url: "http://127.0.0.1:\(port)/sign-in"))
        #expect(page.status == 200)
        let users = try await program.run(["console", "user", "list", "--config", site.settingsFile, "--json"]).rows()
        #expect(users.map { $0["name"] as? String } == ["quickstart"] && users.first?["one_time"] as? Bool == true)
        let connection = try await PostgresConnection.connect(
            PostgresConfiguration(
                site.cluster.connectionString(
                    TestSite.databaseName,
                    host: site.cluster.folder,
                    user: SiteConsole.databaseUser
                ),
                applicationName: PostgresApplicationName(role: "test", host: "test", pid: getpid())
            )
        )
        let rights = try await connection.execute(
            PostgresStatement(
                "SELECT has_table_privilege('pushmta_engine.credential', 'SELECT'), has_table_privilege('pushmta_engine.subscription', 'SELECT'), "
                    + "has_table_privilege('pushmta.delivery_progress', 'SELECT')"
            )
        )
        #expect(try !rights.bool(0, 0) && !rights.bool(0, 1) && rights.bool(0, 2))
        await connection.close()
    }

    private func checkTables(_ database: String, messages: Int64) async throws {
        let connection = try await PostgresConnection.connect(
            PostgresConfiguration(
                database,
                applicationName: PostgresApplicationName(
                    role: "test",
                    host: "test",
                    pid: ProcessInfo.processInfo.processIdentifier
                )
            )
        )
        let result = try await connection.execute(
            PostgresStatement(
                """
                SELECT (SELECT count(*) FROM pushmta.message_status WHERE status = 'sent'), sum(target)::bigint, sum(sent)::bigint,
                    sum(pending)::bigint, bool_and(state = 'finished') FROM pushmta.delivery_progress
                """
            )
        )
        #expect(try result.int64(0, 0) == messages)
        #expect(try result.int64(0, 1) == messages)
        #expect(try result.int64(0, 2) == messages)
        #expect(try result.int64(0, 3) == 0)
        #expect(try result.bool(0, 4))
        await connection.close()
    }

    private func checkCommands() async throws {
        let config = ["--config", folder.path + "/site/pushmta.yaml", "--json"]
        let doctor = try await program.run(["doctor"] + config)
        #expect(doctor.status == 0, "\(doctor.output)")
        // The site's user owns its whole server.
        let others = try doctor.rows().filter { $0["check"] as? String != "database user" }
        #expect(others.allSatisfy { $0["result"] as? String == "ok" }, "\(doctor.output)")
        let status = try await program.run(["status"] + config).json()
        #expect((status["hosts"] as? [Any])?.count == 1)
        #expect(try await program.run(["app", "list"] + config).rows().count == 2)
        #expect(try await program.run(["account", "list"] + config).rows().count == 2)
        #expect(try await program.run(["service", "list"] + config).rows().count == 1)
        #expect(try await program.run(["subscription", "list", "--limit", "7"] + config).rows().count == 7)
        let deliveries = try await program.run(["delivery", "list"] + config).rows()
        let id = try #require(deliveries.first?["id"] as? Int64)
        let delivery = try await program.run(["delivery", "status", String(id)] + config).json()
        #expect(delivery["sent"] as? Int == 400)
    }
}
