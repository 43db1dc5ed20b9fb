import Foundation
import Logging
import PostgresClient
import ProcessEvents
import Store
import Synchronization
import TestSupport
import Testing

/// Log events are declared once, documented, and logged where the declaration says.
@Suite struct ProcessEventTests {
    @Test func theGuideHasTheTable() throws {
        let guide = try String(contentsOfFile: ProjectFolder.path + "/Deploy/guide/monitoring.md", encoding: .utf8)
        #expect(
            guide.contains(ProcessEvent.table),
            "Deploy/guide/monitoring.md lacks this table:\n\(ProcessEvent.table)"
        )
    }

    @Test func namesAreOfOneForm() {
        let names = ProcessEvent.all.map(\.name)
        #expect(Set(names).count == names.count)
        for name in names { #expect(name.wholeMatch(of: /[a-z]+(_[a-z]+)*/) != nil, "\(name)") }
    }

    /// A declared event that is never logged would be waited for in vain.
    @Test func everyEventIsTold() throws {
        let sources = ProjectFolder.path + "/Sources"
        let files = try #require(FileManager.default.enumerator(atPath: sources)).compactMap { $0 as? String }
        let declaration = try String(contentsOfFile: sources + "/ProcessEvents/ProcessEvent.swift", encoding: .utf8)
        var code = ""
        for file in files where file.hasSuffix(".swift") && !file.hasSuffix("/ProcessEvent.swift") {
            let text = try String(contentsOfFile: sources + "/" + file, encoding: .utf8)
            if text.contains("import ProcessEvents") || file.hasPrefix("ProcessEvents/") { code += text }
        }
        let properties = declaration.matches(of: /static let (\w+) = ProcessEvent\(/).map { String($0.1) }
        #expect(properties.count == ProcessEvent.all.count)
        for property in properties {
            #expect(code.contains(".\(property),"), "nobody tells \(property)")
        }
    }
}

/// A lost database is logged once, and so is its return.
@Suite struct DatabaseAvailabilityTests {
    /// Collects the lines of a logger.
    private final class Lines: Sendable {
        private let lines = Mutex<[(level: Logger.Level, event: String?, text: String, seconds: String?)]>([])

        func add(_ event: LogEvent) {
            let name = event.metadata?["event"].map { "\($0)" }
            let seconds = event.metadata?["seconds"].map { "\($0)" }
            lines.withLock { $0.append((event.level, name, event.message.description, seconds)) }
        }

        /// The lines that operators see.
        var shown: [(level: Logger.Level, event: String?, text: String, seconds: String?)] {
            lines.withLock { $0.filter { $0.level > .debug } }
        }

        /// The text of every line.
        var all: [String] { lines.withLock { $0.map(\.text) } }

        var logger: Logger {
            var logger = Logger(label: "test") { _ in Handler(lines: self) }
            logger.logLevel = .trace
            return logger
        }
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add(event) }
    }

    private let lines = Lines()
    private let refused = PostgresError(code: .connection, message: "refused")

    private func failing(_ error: PostgresError) -> ReconnectingConnectionEvent {
        .attemptFailed(error, attempt: 1, nextDelay: .zero)
    }

    @Test func anOutageIsToldOnceForAllConnections() throws {
        let database = DatabaseAvailability(logger: lines.logger)
        let (first, second) = (database.observer("first"), database.observer("second"))
        for observer in [first, second] {
            observer(.connected(backendPID: 1))
            observer(.lost)
        }
        for _ in 0..<3 {
            first(failing(refused))
            second(failing(refused))
        }
        #expect(lines.shown.map(\.event) == ["database_away"])
        #expect(lines.shown[0].text.hasPrefix("The database is unreachable: PostgreSQL: refused"))
        #expect(database.isAway)
        first(.connected(backendPID: 2))
        #expect(lines.shown.count == 1, "the other one is still down")
        second(.connected(backendPID: 3))
        #expect(lines.shown.map(\.event) == ["database_away", "database_back"])
        let seconds = try #require(lines.shown[1].seconds)
        #expect(Double(seconds) != nil && lines.shown[1].text == "The database is back after \(seconds) s")
        #expect(!database.isAway)
        first(failing(refused))
        #expect(lines.shown.map(\.event) == ["database_away", "database_back", "database_away"])
    }

    @Test func aSessionThatEndsIsNoOutage() {
        let database = DatabaseAvailability(logger: lines.logger)
        let observer = database.observer("only")
        observer(.connected(backendPID: 1))
        observer(.lost)
        observer(.connected(backendPID: 2))
        #expect(lines.shown.isEmpty)
    }

    /// Its connections are closed and opened again all the time.
    @Test func aServerThatDoesNotWriteIsNotAway() throws {
        let database = DatabaseAvailability(logger: lines.logger)
        let (first, second) = (database.observer("first"), database.observer("second"))
        for _ in 0..<3 {
            for observer in [first, second] {
                observer(.dropped)
                observer(.readOnly)
            }
            first(failing(PostgresError(code: .sqlState("25006"), message: "cannot execute UPDATE")))
        }
        #expect(lines.shown.map(\.event) == ["database_read_only"])
        #expect(lines.shown[0].text.hasPrefix("The database is read-only: ") && !database.isAway)
        first(.connected(backendPID: 2))
        second(.connected(backendPID: 3))
        #expect(lines.shown.map(\.event) == ["database_read_only", "database_writable"])
        let seconds = try #require(lines.shown[1].seconds)
        #expect(lines.shown[1].text == "The database is writable again after \(seconds) s")
        // A lost server that returns as a standby is back.
        second(failing(refused))
        second(.readOnly)
        #expect(lines.shown.suffix(3).map(\.event) == ["database_away", "database_back", "database_read_only"])
    }

    @Test func pausesAreWrittenAsPeopleDo() {
        #expect(Duration.nanoseconds(141_653_705).pauseText == "142 ms")
        #expect(Duration.seconds(4).pauseText == "4 s" && Duration.milliseconds(1_440).pauseText == "1.4 s")
        #expect(Duration.seconds(600).pauseText == "10 min" && Duration.milliseconds(999).pauseText == "1 s")
    }

    /// A server behind a broken network does not even refuse connections.
    @Test func aLossThatLastsIsAnOutage() async throws {
        let database = DatabaseAvailability(logger: lines.logger)
        let observer = database.observer("only")
        observer(.lost)
        try await eventually("it is told") { database.isAway }
        #expect(lines.shown.map(\.event) == ["database_away"])
    }

    @Test func anotherReasonIsToldAndAServerThatStartsIsNone() {
        let database = DatabaseAvailability(logger: lines.logger)
        let observer = database.observer("only")
        observer(failing(refused))
        observer(failing(PostgresError(code: .connection, sqlState: "57P03", message: "starting up")))
        #expect(lines.shown.count == 1)
        observer(failing(PostgresError(code: .connection, sqlState: "28P01", message: "wrong password")))
        #expect(lines.shown.map(\.event) == ["database_away", nil])
        #expect(lines.shown[1].text.contains("wrong password"))
    }

    @Test func aConnectionThatNobodyWantsAnyMoreEndsNothing() async throws {
        let database = DatabaseAvailability(logger: lines.logger)
        await #expect(throws: PostgresError.self) {
            try await database.opening("role") { _ in throw refused }
        }
        #expect(lines.shown.map(\.event) == ["database_away"])
        let observer = database.observer("other")
        observer(failing(refused))
        observer(.closed)
        #expect(lines.shown.count == 1 && database.isAway)
        try await database.opening("role") { _ in }
        #expect(lines.shown.map(\.event) == ["database_away", "database_back"])
    }

    @Test func whatFailsForItIsQuiet() {
        let logger = lines.logger
        logger.failure("a thing could not be done", of: refused)
        let readOnly = PostgresError(code: .sqlState("25006"), message: "no", statement: "UPDATE secret")
        logger.failure("a thing could not be done", of: readOnly)
        #expect(lines.shown.isEmpty && lines.all.count == 2 && !lines.all[1].contains("UPDATE"))
        logger.failure("a thing could not be done", of: PostgresError(code: .sqlState("55P03"), message: "locked"))
        #expect(lines.shown.map(\.text) == ["a thing could not be done: PostgreSQL: locked (SQLSTATE 55P03)"])
    }
}
