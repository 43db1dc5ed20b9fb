import Logging
import PostgresClient
import ProcessProtocol
import PushCore
import Store
import Supervisor
import SystemPackage
import TestSupport

/// A supervisor with a real database. Its children are real processes that run a shell script.
final class SupervisorSite: Sendable {
    let folder: TemporaryFolder
    let database: TestDatabase
    let store: Store
    let connection: PostgresConnection

    static let template = TestTemplate(name: "template_supervisor") { connectionString in
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 0)
        _ = try await Store.migrate(PostgresConfiguration(connectionString, applicationName: name))
    }

    private init(folder: TemporaryFolder, database: TestDatabase, store: Store, connection: PostgresConnection) {
        self.folder = folder
        self.database = database
        self.store = store
        self.connection = connection
    }

    /// Creates a database with one iOS application, its account and credential, and some subscriptions.
    static func make(subscriptions: Int64 = 10, script: String = ScriptFile.obedient) async throws -> SupervisorSite {
        let database = try await TestDatabase.create(template)
        let store = try await Store.connect(database.configuration())
        let folder = try TemporaryFolder()
        try ScriptFile.write(script, in: folder)
        let site = SupervisorSite(
            folder: folder,
            database: database,
            store: store,
            connection: try await database.connect()
        )
        try await site.fill(subscriptions)
        return site
    }

    private func fill(_ subscriptions: Int64) async throws {
        _ = try await store.createService(name: "shop", label: "Shop")
        _ = try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 1)
        _ = try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios",
                platform: .ios,
                integrationKey: "key-1",
                bundleID: "org.example.shop",
                account: "apns"
            )
        )
        let credential = CredentialRow(
            id: try await store.nextCredentialID(),
            kind: .apnsKey,
            name: "key",
            sealKeyID: "test",
            sealed: [1, 2, 3],
            attributes: "{}",
            fingerprint: "00",
            expiresAt: nil
        )
        try await store.saveCredential(credential, application: "shop-ios")
        if subscriptions > 0 { try await store.seedSubscriptions(application: "shop-ios", count: subscriptions) }
    }

    /// Makes a supervisor that has not started; `reread` changes its settings when it reads them again.
    func supervisor(
        _ change: (inout SupervisorSettings) -> Void = { _ in },
        reread: (inout SupervisorSettings) -> Void = { _ in },
        lockTimeout: Int = Store.lockTimeoutMilliseconds
    ) -> Supervisor {
        var settings = SupervisorSettings(Settings())
        settings.mta.workingPath = folder.path.appending("host").string
        settings.hostName = "test"
        settings.version = "1.2.3"
        settings.mta.master.executablePath = ScriptFile.path(in: folder).string
        settings.globalOptions = ["--config", "some file"]
        settings.mta.master.dataBaseRetryDelaySec = 1
        settings.killDelaySec = 1
        settings.mta.master.processRestartTime = ""
        settings.metrics = .off
        change(&settings)
        let database = database
        var changed = settings
        reread(&changed)
        let fixed = changed
        return Supervisor(
            settings: settings,
            connect: { role in
                var configuration = database.configuration(role: role)
                configuration.lockTimeoutMilliseconds = lockTimeout
                return try await Store.connect(configuration)
            },
            analyst: DeliveryAnalyst(
                analyse: { _, _ in AnalysisFindings() },
                trial: { _ in nil },
                look: { _, look in .problem("about \(look.deliveryID)") }
            ),
            reload: { fixed },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        )
    }

    /// Runs a supervisor during the closure and then drains it.
    func running(_ supervisor: Supervisor, _ body: () async throws -> Void) async throws {
        let run = Task { try await supervisor.run() }
        do {
            try await body()
        } catch {
            supervisor.fastShutdown()
            try await run.value
            throw error
        }
        supervisor.drain()
        try await run.value
    }

    /// Creates and starts a delivery to all subscriptions.
    func startDelivery(content: String = #"{"ios":{"title":"Hello"}}"#) async throws -> Int64 {
        let new = NewDelivery(label: "test", applications: ["shop-ios"], content: content)
        let id = try await store.createDelivery(new)
        try await store.startDelivery(id)
        return id
    }

    /// Waits until a delivery has reached a state.
    func wait(for state: DeliveryState, of delivery: Int64) async throws {
        try await wait(for: state.rawValue, from: "SELECT state FROM pushmta_engine.delivery WHERE id = \(delivery)")
    }

    /// Waits until a part may be claimed.
    func waitUntilReady(_ part: ClaimedPart) async throws {
        try await wait(for: "ready", from: "SELECT state FROM pushmta_engine.delivery_part WHERE id = \(part.id)")
    }

    /// Waits until the supervisor reports that it is running.
    func waitUntilRunning() async throws {
        try await wait(for: "running", from: "SELECT state FROM pushmta_engine.mta_host")
    }

    /// Waits until a condition holds.
    func wait(within time: Duration = .seconds(60), until isTrue: () -> Bool) async throws {
        try await eventually("what the supervisor was to do", within: time) { isTrue() }
    }

    /// Waits until the first column of the query's first row has this text.
    func wait(for text: String, from sql: String, within time: Duration = .seconds(60)) async throws {
        try await eventually("'\(sql)' gives '\(text)'", within: time) { try await value(sql) == text }
    }

    /// The text in the first column of a query's first row; nil if there is no row or it is null.
    func value(_ sql: String) async throws -> String? {
        let result = try await connection.execute(PostgresStatement("SELECT (\(sql))::text", prepare: false))
        return result.rowCount > 0 ? try result.textOrNil(0, 0) : nil
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
