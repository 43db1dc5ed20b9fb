import Administration
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PostgresClient
import PushCore
import Store
import Synchronization
import TestSupport

@testable import Console

/// A console in this process with its own database. Requests go to the router without a network, in the form that a
/// connection would pass them.
final class ConsoleSite: Sendable {
    let database: TestDatabase
    let admin: Store
    let responder: ConsoleResponder
    let server: ConsoleServer
    private let entrance: ConsoleEntrance
    /// The path of the key that seals credentials; the file does not exist until a test creates it.
    let keyFile: String
    /// The offset of the time for sessions and locks from the database's clock.
    private let ahead = Mutex<Int64>(0)

    static let password = "correct horse battery"
    /// Its hash, computed once, because each hash is as expensive as a guess must be.
    private static let hash = Task { try await Passwords().hash(password) }

    private init(
        database: TestDatabase,
        admin: Store,
        settingsInForce: [SettingInForce],
        change: (inout ConsoleSettings) -> Void
    ) throws {
        self.database = database
        self.admin = admin
        var settings = Settings()
        change(&settings.console)
        keyFile = FileManager.default.temporaryDirectory.path + "/console-\(UUID().uuidString).key"
        settings.credentialKeyFile = keyFile
        let box = Mutex<@Sendable () -> DatabaseTime?>({ nil })
        let moment = Moment(box)
        var logger = Logger(label: "console") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        server = try ConsoleServer(
            ConsoleSetup(
                settings: settings,
                database: database.configuration(role: "console"),
                version: "1.0",
                meanings: { $0 == "BadDeviceToken" ? "the token is none of this app" : nil },
                credentials: ConsoleCredentials.sealing(settings),
                logger: logger,
                settingsInForce: settingsInForce,
                moment: { moment.now() }
            )
        )
        responder = server.responder
        entrance = responder.router()
        moment.set { [weak self] in self?.moment() }
    }

    static func start(
        settingsInForce: [SettingInForce] = [],
        _ change: (inout ConsoleSettings) -> Void = { _ in }
    ) async throws -> ConsoleSite {
        let database = try await TestDatabase.create()
        let site = try ConsoleSite(
            database: database,
            admin: Store(configuration: database.configuration()),
            settingsInForce: settingsInForce,
            change: change
        )
        try await site.fill()
        return site
    }

    private func fill() async throws {
        try await admin.createService(name: "shop", label: "Shop")
        try await admin.createAccount(name: "apns", connector: .iosHTTP2, host: "localhost", port: 443)
        try await admin.createApplication(
            NewApplication(
                service: "shop",
                name: "shop-ios",
                platform: .ios,
                integrationKey: "ios-key",
                bundleID: "com.shop",
                account: "apns"
            )
        )
    }

    func user(_ name: String, _ role: ConsoleRole) async throws {
        let author = AuditAuthor(name: "test", origin: "here")
        try await admin.addConsoleUser(name, role: role, passwordHash: try await Self.hash.value, by: author)
    }

    /// A started delivery.
    func delivery(_ label: String = "Autumn sale") async throws -> Int64 {
        let id = try await admin.createDelivery(
            NewDelivery(label: label, applications: ["shop-ios"], content: #"{"ios": {"title": "a"}}"#)
        )
        try await admin.startDelivery(id)
        return id
    }

    /// Subscriptions 1 to a count.
    func subscriptions(_ count: Int64) async throws {
        try await admin.seedSubscriptions(application: "shop-ios", count: count)
    }

    /// Runs a test's SQL.
    func sql(_ script: String) async throws {
        let connection = try await database.connect()
        try await connection.run(script: script)
        await connection.close()
    }

    /// The first value of a test's SQL, as text.
    func value(_ sql: String) async throws -> String {
        let connection = try await database.connect()
        let result = try await connection.execute(PostgresStatement("SELECT (\(sql))::text", prepare: false))
        await connection.close()
        return try result.textOrNil(0, 0) ?? ""
    }

    func pass(minutes: Int64) { ahead.withLock { $0 += minutes * 60_000 } }

    private func moment() -> DatabaseTime? {
        let seconds = Date().timeIntervalSince1970
        return DatabaseTime(microsecondsSince1970: Int64(seconds * 1e6)).advanced(byMilliseconds: ahead.withLock { $0 })
    }

    /// Requests a path like a browser with these cookies.
    func ask(
        _ method: HTTPRequest.Method,
        _ path: String,
        form: [String: String]? = nil,
        cookies: String = "",
        headers: [String: String] = [:],
        peer: String = "192.0.2.1",
        untilEnd: Bool = false
    ) async throws -> ConsoleAnswer {
        var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        if !cookies.isEmpty { head.headerFields[.cookie] = cookies }
        for (name, value) in headers {
            if let field = HTTPField.Name(name) { head.headerFields[field] = value }
        }
        let body = (form ?? [:]).map { "\(Self.encoded($0.key))=\(Self.encoded($0.value))" }.joined(separator: "&")
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let context = ConsoleEntrance.Context(peer: IPAddress(peer), logger: Logger(label: "test"))
        let response = try await entrance.respond(to: request, context: context)
        return try await ConsoleAnswer(response, untilEnd: untilEnd)
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// Signs in; the answer is a redirection if it went well.
    func signIn(
        _ name: String,
        password: String = ConsoleSite.password,
        peer: String = "192.0.2.1",
        headers: [String: String] = [:],
        next: String = "",
        cookies: String = ""
    ) async throws -> ConsoleAnswer {
        let page = try await ask(.get, "/sign-in", headers: headers, peer: peer)
        return try await ask(
            .post,
            "/sign-in",
            form: ["token": page.formToken, "user": name, "password": password, "next": next],
            cookies: [page.cookies, cookies].filter { !$0.isEmpty }.joined(separator: "; "),
            headers: headers,
            peer: peer
        )
    }

    /// A session of a new user with a role.
    func session(_ role: ConsoleRole, name: String? = nil) async throws -> ConsoleBrowser {
        let name = name ?? role.rawValue
        try await user(name, role)
        return try await browser(name)
    }

    /// A session of a user.
    func browser(_ name: String) async throws -> ConsoleBrowser {
        let answer = try await signIn(name)
        guard answer.status == .seeOther else { throw Refused(name: name, status: answer.status) }
        let browser = ConsoleBrowser(site: self, cookies: answer.cookies)
        let page = try await browser.get("/alarms")
        return ConsoleBrowser(site: self, cookies: answer.cookies, token: page.formToken)
    }

    func close() async {
        await server.database.close()
        await responder.close()
        await admin.close()
        for path in [keyFile, KeyFileLock.path(of: keyFile)] { try? FileManager.default.removeItem(atPath: path) }
    }
}

/// Allows a site's clock to be set after the site was created.
private final class Moment: Sendable {
    private let source: Mutex<@Sendable () -> DatabaseTime?>

    init(_ source: consuming Mutex<@Sendable () -> DatabaseTime?>) {
        self.source = source
    }

    func set(_ source: @escaping @Sendable () -> DatabaseTime?) { self.source.withLock { $0 = source } }
    func now() -> DatabaseTime? { source.withLock { $0 }() }
}

/// A signed-in user.
struct ConsoleBrowser: Sendable {
    let site: ConsoleSite
    let cookies: String
    var token = ""

    /// The session as the database's functions take it.
    var actor: ConsoleActor {
        let name = "pushmta-session="
        let token = cookies.split(separator: "; ").first { $0.hasPrefix(name) }?.dropFirst(name.count)
        return ConsoleActor(tokenHash: Tokens.hash(String(token ?? "")), idleSeconds: 600, address: "192.0.2.1")
    }

    func get(_ path: String) async throws -> ConsoleAnswer {
        try await site.ask(.get, path, cookies: cookies)
    }

    /// The events of a live page until it ends.
    func live(_ path: String) async throws -> String {
        try await site.ask(.get, path, cookies: cookies, untilEnd: true).text
    }

    func post(
        _ path: String,
        form: [String: String] = [:],
        token given: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> ConsoleAnswer {
        let all = form.merging(["token": given ?? token]) { _, token in token }
        return try await site.ask(.post, path, form: all, cookies: cookies, headers: headers)
    }
}

/// The console's answer.
struct ConsoleAnswer: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let text: String

    /// - Parameter untilEnd: whether it is a live page that is expected to end.
    init(_ response: Response, untilEnd: Bool = false) async throws {
        status = response.status
        headers = response.headers
        // A live page does not end.
        guard untilEnd || response.headers[.contentType] != "text/event-stream" else {
            text = ""
            return
        }
        let sink = Sink()
        try await response.body.write(sink)
        text = sink.text.withLock { $0 }
    }

    /// The browser's cookies after the answer.
    var cookies: String {
        headers[values: .setCookie].filter { !$0.contains("Max-Age=0") }
            .compactMap { $0.split(separator: ";").first.map(String.init) }.joined(separator: "; ")
    }

    /// The token of the page's first form.
    var formToken: String {
        text.firstMatch(of: /name="token" value="([0-9a-f]{64})"/).map { String($0.1) } ?? ""
    }

    private final class Sink: ResponseBodyWriter {
        let text = Mutex("")

        func write(_ buffer: ByteBuffer) async throws {
            text.withLock { $0 += String(buffer: buffer) }
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}

/// The error of a refused sign-in.
struct Refused: Error {
    let name: String
    let status: HTTPResponse.Status
}
