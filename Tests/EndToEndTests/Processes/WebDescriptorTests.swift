import CurlClient
import Foundation
import NIOCore
import NIOPosix
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A web process with a low limit of open files, and clients that open many connections.
@Suite struct WebDescriptorTests {
    /// Far longer than anything takes, as the machine may be busy.
    private static let limit = Duration.seconds(120)

    private let folder: TemporaryFolder
    private let database: TestDatabase
    private let port: Int
    private let web: BackgroundProcess

    init() async throws {
        folder = try TemporaryFolder()
        database = try await TestDatabase.create(.migrated)
        port = try await FreePort.any()
        web = BackgroundProcess(name: "web process", recordFile: folder.path + "/pid", logFile: folder.path + "/log")
    }

    /// With more silent connections than its limit of files, it admits them as others end, and the process does not
    /// crash.
    @Test func manySilentConnectionsDoNotEndIt() async throws {
        // Few enough to be exhausted, but more than the process itself needs.
        try await start("ulimit -n 220")
        var idle: [any Channel] = []
        for _ in 0..<300 { idle.append(try await connect()) }
        // The last connections, and later ones, must wait for the end of the first.
        try await eventually("an answer", within: Self.limit) { await answers() }
        #expect(web.running != nil)
        let log = try String(contentsOfFile: web.logFile, encoding: .utf8)
        #expect(log.contains("web.limits.maxConnections is 10000"), "\(log)")
        for channel in idle { try? await channel.close() }
        #expect(try await web.stop() == .orderly)
    }

    /// A low limit that the process may raise does no harm.
    @Test func itRaisesALimitThatItMayRaise() async throws {
        try await start("ulimit -Sn 120 && \(CoreDumpTests.allow)")
        let process = try #require(web.running)
        let limits = try String(contentsOfFile: "/proc/\(process.id)/limits", encoding: .utf8)
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        let words = line?.split(separator: " ").compactMap { Int($0) } ?? []
        #expect(words.count == 2 && words.first == words.last.map { min($0, 1_048_576) }, "\(line ?? "no line")")
        #expect(try CoreDumpTests.problems(ofProcess: process.id) == [])
        #expect(try await web.stop() == .orderly)
    }

    @Test func withoutRoomForAnybodyItSaysSo() async throws {
        try await start("ulimit -n 80", waits: false)
        try await eventually("its end", within: Self.limit) { web.running == nil }
        let log = try String(contentsOfFile: web.logFile, encoding: .utf8)
        #expect(log.contains("80 files open at once") && log.contains("ulimit -n"), "\(log)")
    }

    /// Starts the process with a limit set by the shell.
    private func start(_ limit: String, waits: Bool = true) async throws {
        let settings = [
            "DATABASE_URL": database.connectionString, "WEB_ADDRESS": "127.0.0.1", "WEB_PORT": "\(port)",
            "WEB_WORKING_PATH": folder.path + "/spool", "WEB_ACCESS_LOG": "/dev/null", "WEB_THREADS": "1",
            "WEB_LIMITS_HEADER_TIMEOUT_SEC": "3",
        ]
        try await web.start(
            "/bin/sh",
            ["-c", "\(limit) && exec '\(try Program.pushmta().path)' web"],
            environment: Dictionary(uniqueKeysWithValues: settings.map { ("PUSHMTA_" + $0.key, $0.value) })
        )
        if waits { try await eventually("the web process", within: Self.limit) { await answers() } }
    }

    private func connect() async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// Whether it answers a request.
    private func answers() async -> Bool {
        let request = CurlRequest(url: "http://127.0.0.1:\(port)/health/live")
        return (try? await CurlClient().perform(request))?.status == 200
    }
}
