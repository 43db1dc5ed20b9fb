import Foundation
import PostgresClient
import Store
import Subprocess
import SystemPackage
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// `pushmta top` in a terminal: what it draws, and that it restores the terminal however it ends.
@Suite struct TopTerminalTests {
    /// The sequences for the alternate screen and back, as in xterm and all other terminals.
    private static let taken = "\u{1B}[?1049h"
    private static let left = "\u{1B}[?1049l"

    private let terminal: PseudoTerminal
    private let before: [tcflag_t]
    private let database: TestDatabase

    init() async throws {
        terminal = try PseudoTerminal()
        before = terminal.modes
        database = try await TestDatabase.create(.migrated)
        let store = Store(configuration: database.configuration())
        try await store.registerHost(TopSample.host("alpha").report(id: "00000000-0000-0000-0000-00000000000a"))
        await store.close()
    }

    /// Runs it while a user does something; returns how it ended.
    private func run(
        _ environment: [String: String] = [:],
        _ person: @escaping @Sendable (Int32) async throws -> Void
    ) async throws -> TerminationStatus {
        let own = ["PUSHMTA_DATABASE_URL": database.connectionString, "TERM": "xterm"]
        let updates = own.merging(environment) { $1 }.map {
            (Environment.Key(stringLiteral: $0.key), Optional($0.value))
        }
        var options = PlatformOptions()
        options.createSession = true
        let configuration = Configuration(
            executable: .path(FilePath(try Program.pushmta().path)),
            arguments: ["top", "--interval", "0.2"],
            environment: .inherit.updating(Dictionary(uniqueKeysWithValues: updates)),
            platformOptions: options
        )
        let descriptor = FileDescriptor(rawValue: terminal.program)
        let result = try await Subprocess.run(
            configuration,
            input: .fileDescriptor(descriptor, closeAfterSpawningProcess: false),
            output: .fileDescriptor(descriptor, closeAfterSpawningProcess: false),
            error: .fileDescriptor(descriptor, closeAfterSpawningProcess: false)
        ) { execution in
            let process = execution.processIdentifier.value
            do {
                try await eventually("a screen: \(terminal.text)") { terminal.screen.contains("alpha") }
                try await person(process)
            } catch {
                kill(process, SIGKILL)
                throw error
            }
        }
        #expect(terminal.modes == before && terminal.text.hasSuffix(Self.left), "\(terminal.screen)")
        return result.terminationStatus
    }

    @Test func keysChangeWhatIsShownAndQEndsIt() async throws {
        let status = try await run { [terminal] process in
            #expect(terminal.isRaw && terminal.text.contains(Self.taken))
            #expect(terminal.screen.contains("q quit") && terminal.screen.contains("\u{1B}[7m"))
            terminal.type("2")
            try await eventually("hosts") { terminal.screen.contains("shown: hosts") }
            terminal.type("/nobody")
            try await eventually("a filter") { terminal.screen.contains("No row contains \"nobody\"") }
            terminal.type("\u{1B}")
            try await eventually("all rows") { terminal.screen.contains("alpha") }
            terminal.resize(columns: 40, lines: 10)
            kill(process, SIGWINCH)
            try await eventually("a small screen") { terminal.screen.filter { $0 == "\r\n" }.count == 9 }
            terminal.type("q")
        }
        #expect(status == .exited(0))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func aSignalEndsItInOrder(signal: Int32) async throws {
        #expect(try await run { kill($0, signal) } == .exited(130))
    }

    @Test func withoutColoursItSaysTheSame() async throws {
        let status = try await run(["NO_COLOR": "1"]) { [terminal] _ in
            #expect(!terminal.text.contains("\u{1B}[33m") && !terminal.text.contains("\u{1B}[2m"))
            terminal.type("q")
        }
        #expect(status == .exited(0))
    }

    /// Here it leads its session, so no shell could resume it. The kernel does not stop it, and the screen comes back.
    @Test func controlZGivesTheTerminalBackAndGoingOnTakesItAgain() async throws {
        let status = try await run { [terminal] process in
            kill(process, SIGTSTP)
            try await eventually("the screen again") {
                let pieces = terminal.text.components(separatedBy: Self.left)
                return pieces.count == 2 && pieces[1].contains(Self.taken) && pieces[1].contains("alpha")
            }
            #expect(terminal.isRaw)
            terminal.type("q")
        }
        #expect(status == .exited(0))
    }

    @Test func aDatabaseThatIsAwayIsToldOfAndWaitedFor() async throws {
        let status = try await run { [terminal, database] _ in
            let connection = try await database.cluster.connect()
            try await connection.run(script: "ALTER DATABASE \(database.name) ALLOW_CONNECTIONS false")
            try await connection.run(
                script: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'"
            )
            try await eventually("the loss") { terminal.screen.contains("No new figures for") }
            #expect(terminal.screen.contains("alpha"))
            try await connection.run(script: "ALTER DATABASE \(database.name) ALLOW_CONNECTIONS true")
            try await eventually("figures") {
                !terminal.screen.contains("No new figures for") && terminal.screen.contains("alpha")
            }
            try await connection.run(script: "ALTER DATABASE \(database.name) ALLOW_CONNECTIONS false")
            try await connection.run(
                script: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database.name)'"
            )
            try await eventually("the loss") { terminal.screen.contains("No new figures for") }
            terminal.type("q")
            await connection.close()
        }
        #expect(status == .exited(0))
    }

    @Test func whatCannotMoveItsCursorGetsText() async throws {
        let program = try Program.pushmta()
        let url = ["PUSHMTA_DATABASE_URL": database.connectionString]
        let ending = try await program.run(["top", "--once"], environment: url)
        #expect(ending.status == 0 && ending.output.contains("alpha") && !ending.output.contains("\u{1B}"))
        #expect(try await program.run(["top", "--interval", "0"], environment: url).status == 64)
        let nowhere = ["PUSHMTA_DATABASE_URL": "host=/nowhere"]
        #expect(try await program.run(["top"], environment: nowhere).status == 69)
    }
}

extension HostRow {
    /// Its report with an id that the database accepts.
    fileprivate func report(id: String) -> HostReport {
        var report = report
        (report.id, report.schemaVersion) = (id, Store.schemaVersion)
        return report
    }
}
