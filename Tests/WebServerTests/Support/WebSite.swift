import Foundation
import Logging
import NIOPosix
import PostgresClient
import PushCore
import Store
import Synchronization
import TestSupport

@testable import WebServer

/// A web process inside this process, with its own database and an application for each platform.
final class WebSite: Sendable {
    let database: TestDatabase
    let admin: Store
    let folder: String
    let port: Int
    let server: WebServer
    let api: WebAPI
    private let running: Task<Void, any Error>
    /// Released when the site has ended, because its test may continue with another one.
    private let place: Mutex<SiteGate.Place?>

    /// Shared by all sites, because one process has many of them here.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// The key that seals secrets in tests.
    static let sealKey = String(repeating: "5a", count: 32)
    static let iosKey = "integrationKey"
    static let androidKey = "testIntegrationKey"

    private init(
        database: TestDatabase,
        admin: Store,
        folder: String,
        port: Int,
        server: WebServer,
        api: WebAPI,
        running: Task<Void, any Error>,
        place: SiteGate.Place?
    ) {
        self.place = Mutex(place)
        self.database = database
        self.admin = admin
        self.folder = folder
        self.port = port
        self.server = server
        self.api = api
        self.running = running
    }

    /// Starts a site. With a given database and folder, it is another process in parallel with an earlier one, or after
    /// it.
    static func start(
        database given: TestDatabase? = nil,
        folder: String? = nil,
        waits: Bool = true,
        _ change: (inout WebSettings) -> Void = { _ in }
    ) async throws -> WebSite {
        // Another process of an existing site does not wait for a place.
        let place = given == nil ? await SiteGate.sites.enter() : nil
        var database = given
        if database == nil { database = try await TestDatabase.create(.migrated) }
        guard let database else { throw RawHTTPError("no database") }
        let admin = Store(configuration: database.configuration())
        if given == nil { try await fill(admin) }
        let folder = folder ?? NSTemporaryDirectory() + "web-\(UUID().uuidString)"
        var settings = Settings()
        settings.web.address = "127.0.0.1"
        settings.web.port = Int(try FreePort.find())
        settings.web.workingPath = folder
        settings.web.accessLog = ""
        change(&settings.web)
        var logger = Logger(label: "web") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        let api = WebAPI(
            settings: settings.web,
            database: database.configuration(role: "web"),
            version: "1.0",
            logger: logger,
            keyring: { try CredentialKeyring(text: sealKey) }
        )
        let server = try WebServer(
            WebSetup(
                settings: settings,
                database: database.configuration(role: "web"),
                hostName: "tracking-1",
                version: "1.0",
                logger: logger,
                keyring: { try CredentialKeyring(text: sealKey) },
                loops: loops,
                addRoutes: { api.addRoutes(to: $0) }
            )
        )
        let (opened, open) = AsyncStream.makeStream(of: WebPorts.self)
        let wanted = (settings.web.port > 0 ? 1 : 0) + (settings.web.tlsPort > 0 ? 1 : 0)
        let running = Task {
            defer { open.finish() }
            try await server.run { open.yield($0) }
        }
        var count = 0
        for await _ in opened {
            count += 1
            if count == wanted { break }
        }
        let site = WebSite(
            database: database,
            admin: admin,
            folder: folder,
            port: settings.web.port,
            server: server,
            api: api,
            running: running,
            place: place
        )
        if waits { try await site.waitUntilReady() }
        return site
    }

    static func fill(_ store: Store) async throws {
        try await store.createService(name: "shop", label: "Shop")
        try await store.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 443)
        try await store.createAccount(name: "fcm", connector: .androidV2, host: "localhost", port: 443)
        try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios",
                platform: .ios,
                integrationKey: iosKey,
                bundleID: "com.shop",
                account: "apns"
            )
        )
        try await store.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-android",
                platform: .android,
                integrationKey: androidKey,
                account: "fcm"
            )
        )
    }

    func waitUntilReady() async throws {
        // With short deadlines on a busy machine, a connection may end before its request is read.
        try await eventually("the server is ready") { (try? await get("/health/ready").status) == 200 }
    }

    func get(_ target: String, headers: [String] = []) async throws -> RawAnswer {
        try await RawHTTP.get(port, target, headers: headers)
    }

    func post(_ target: String, _ body: String, headers: [String] = []) async throws -> RawAnswer {
        try await RawHTTP.post(port, target, body, headers: headers)
    }

    func registerIOS(_ body: String) async throws -> RawAnswer {
        try await post("/nms/mobile/1/registerIOS.jssp", body)
    }

    func registerAndroid(_ body: String) async throws -> RawAnswer {
        try await post("/nms/mobile/1/registerAndroid.jssp", body)
    }

    /// Asks the process to end, and waits until it has.
    func drain() async throws {
        server.drain()
        try await running.value
        await api.close()
        await admin.close()
        place.withLock { $0 = nil }
    }

    /// The first column of the first row of a test's query, as text.
    func value(_ sql: String) async throws -> String? {
        let connection = try await database.connect()
        defer { Task { await connection.close() } }
        let result = try await connection.execute(PostgresStatement("SELECT (\(sql))::text", prepare: false))
        return try result.textOrNil(0, 0)
    }

    func run(_ sql: String) async throws {
        let connection = try await database.connect()
        try await connection.run(script: sql)
        await connection.close()
    }
}
