import Administration
import ArgumentParser
import Foundation
import Gateways
import NIOCore
import NIOPosix
import ProcessProtocol
import PushCore
import Store
import Supervisor
import Synchronization

/// `pushmta trace`: an application's requests and responses on the wire, live.
struct TraceCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Watch an application's requests and responses on the wire, live.",
        discussion: """
            Shows the HTTP/2 headers and bodies that this host's children of the application exchange with APNs and \
            FCM (HTTP v1). It asks the supervisor of this host, through a socket in mta.workingPath that only the \
            supervisor's user may open. Sending never waits for a trace: at most --per-second exchanges a second are \
            shown, and those that do not fit are counted.

            Keys, provider tokens and access tokens are never shown, and push tokens only as their SHA-256 hash. Texts \
            and values of messages are masked. --unmask shows them, and is recorded in the audit log first. The trace \
            ends after --seconds, after --count exchanges, with its reader, or with Ctrl-C. Exit status 75: the trace \
            was refused, for example because the maximum number of traces is running; 69: no supervisor runs here, or \
            it has ended.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(name: .customLong("app"), help: "The application by name.")
    var application: String

    @Option(help: "Only messages to the push token with this SHA-256 hash: printf %s TOKEN | sha256sum.")
    var tokenHash: String?

    @Option(help: "Only messages of this delivery, by its id; for a continuous delivery, the id of the day.")
    var delivery: Int64?

    @Option(help: "The maximum number of exchanges shown per second and child, up to 100.")
    var perSecond = TraceLimits.usualPerSecond

    @Option(help: "The number of seconds after which it ends, up to 3600.")
    var seconds = 600

    @Option(help: "The number of exchanges after which it ends.")
    var count: Int?

    @Flag(help: "Show texts and values of messages; this is recorded in the audit log.")
    var unmask = false

    @Flag(help: "Print each exchange as a line of JSON.")
    var json = false

    func validate() throws {
        if let tokenHash, !PushTokenHash.isHash(tokenHash) {
            throw ValidationError("--token-hash takes 64 hexadecimal digits: printf %s TOKEN | sha256sum prints them.")
        }
        if let count, count < 1 { throw ValidationError("--count is \(count): give 1 or more.") }
        if let problem = request(0).problem { throw ValidationError(problem) }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let id = try await StoreSession.run(loaded.values) { store in
            let applications = try await store.applications()
            guard let found = applications.first(where: { $0.name == application }) else {
                throw CommandFailure.unknownName(
                    "application",
                    application,
                    among: applications.map(\.name),
                    list: "app list"
                )
            }
            return found.id
        }
        let request = request(id)
        let path = Supervisor.traceSocket(in: loaded.values.mta.workingPath)
        let printer = TracePrinter(json: json, limit: count)
        let end = try await UntilSignal.run { try await TraceClient(path: path).trace(request) { printer.show($0) } }
        if case .told(let line) = end, line.isRefused == true {
            throw CommandFailure(.temporary, "Nothing is traced: \(TerminalText.line(line.end ?? ""))")
        }
        StandardError.write(printer.summary(of: application) + "\n")
        switch end {
        case .told(let line): StandardError.write("The trace has ended: \(line.end ?? "")\n")
        case .enough: break
        case .lost: throw CommandFailure(.unavailable, "The supervisor has ended, and the trace with it.")
        case nil: throw ExitCode(CommandFailure.interruptedStatus)
        }
    }

    private func request(_ id: Int32) -> TraceRequest {
        // The socket belongs to the supervisor's user; sudo tells who became that user.
        let user = AuditAuthor.commandLine.name
        let person = ProcessInfo.processInfo.environment["SUDO_USER"].map { "\($0) as \(user)" } ?? user
        var request = TraceRequest(applicationID: id, application: application, person: person)
        request.tokenHash = tokenHash?.lowercased()
        request.deliveryID = delivery
        request.perSecond = perSecond
        request.seconds = seconds
        request.isUnmasked = unmask
        return request
    }
}

/// The connection to the supervisor of this host.
struct TraceClient: Sendable {
    enum End: Sendable {
        /// The supervisor has ended it, with its last line.
        case told(TraceLine)
        /// The reader wants no more.
        case enough
        /// The supervisor has gone without a last line.
        case lost
    }

    let path: String

    /// Requests a trace and passes on each line while more are wanted.
    func trace(_ request: TraceRequest, _ show: @escaping @Sendable (TraceLine) -> Bool) async throws -> End {
        let connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        do {
            connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
                }
        } catch let error as IOError where error.errnoCode == EACCES || error.errnoCode == EPERM {
            throw CommandFailure(
                .unavailable,
                "This user may not open the socket \(path): run the command as the user of the supervisor, for example with sudo -u pushmta."
            )
        } catch {
            throw CommandFailure(
                .unavailable,
                "No supervisor of this host listens on \(path): check that one is running, and that it has the same mta.workingPath. (\(error))"
            )
        }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: LineEncoder.line(request)))
            var parser = LineParser<TraceLine>()
            for try await bytes in inbound {
                for line in parser.parse(bytes.readableBytesView) {
                    if line.end != nil { return .told(line) }
                    guard show(line) else { return .enough }
                }
            }
            try Task.checkCancellation()
            return .lost
        }
    }
}

/// Shows what is on the wire, for people or as lines of JSON.
final class TracePrinter: Sendable {
    private struct State {
        /// The last counts of each child.
        var counts: [Int64: TraceCounts] = [:]
        /// The last notice of each child, which is sent repeatedly.
        var notices: [Int64?: String] = [:]
        var shown = 0
        var missed: Int64 = 0
    }

    private let json: Bool
    /// The number of exchanges after which it ends.
    private let limit: Int?
    private let state = Mutex(State())

    /// Prints in one of two forms.
    init(json: Bool, limit: Int? = nil) {
        self.json = json
        self.limit = limit
    }

    /// Shows a line from the supervisor.
    ///
    /// - Returns: whether more lines are wanted.
    func show(_ line: TraceLine) -> Bool {
        let (isNew, isLast) = state.withLock { state in
            if let child = line.child, let told = line.counts { state.counts[child] = told }
            state.missed += line.missed ?? 0
            if line.exchange != nil { state.shown += 1 }
            let isNew =
                line.notice != nil && state.notices.updateValue(line.notice ?? "", forKey: line.child) != line.notice
            return (isNew, limit.map { state.shown >= $0 } ?? false)
        }
        if let missed = line.missed {
            StandardError.write("(\(missed) exchanges were not shown: this reader is too slow)\n")
        }
        if isNew, let notice = line.notice {
            StandardError.write("(\(line.child.map { "child \($0): " } ?? "")\(TerminalText.line(notice)))\n")
        }
        guard let exchange = line.exchange else { return true }
        let isRead = StandardOutput.hasWritten(
            json
                ? Self.cell(exchange, child: line.child, counts: line.counts).json
                : Self.text(exchange, child: line.child, counts: line.counts)
        )
        return isRead && !isLast
    }

    /// How many exchanges were shown, of how many.
    func summary(of application: String) -> String {
        state.withLock { state in
            let counts = state.counts.values
            var words = "Shown: \(state.shown) of \(counts.reduce(0) { $0 + $1.matched }) messages of \(application)."
            let lost = counts.reduce(state.missed) { $0 + $1.lost }
            if lost > 0 { words += " \(lost) more did not fit and were not shown." }
            let unchecked = counts.reduce(0) { $0 + $1.unchecked }
            if unchecked > 0 {
                words += " For \(unchecked) of them, the push token was not checked: they were too many."
            }
            return words
        }
    }

    /// An exchange for people.
    static func text(_ exchange: TracedExchange, child: Int64?, counts: TraceCounts?) -> String {
        var head = [
            time(exchange.at), "delivery \(exchange.delivery)", child.map { "child \($0)" } ?? "",
            milliseconds(exchange.latencyMicroseconds),
        ]
        if let counts, counts.matched > 0 { head.append("\(counts.matched) so far") }
        if let counts, counts.lost > 0 { head.append("\(counts.lost) not shown") }
        if let counts, counts.unchecked > 0 { head.append("\(counts.unchecked) not checked") }
        var lines = [head.filter { !$0.isEmpty }.joined(separator: "  ")]
        lines += part(exchange.request, ">")
        if let answer = exchange.answer { lines += part(answer, "<") }
        if let failure = exchange.failure { lines.append("< " + TerminalText.line(failure)) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func part(_ part: TracedExchange.Part, _ mark: String) -> [String] {
        part.headers.map { "\(mark) " + TerminalText.line("\($0.name): \($0.value)") }
            + (part.body.isEmpty ? [] : ["\(mark) ", "\(mark) " + TerminalText.line(part.body)])
    }

    private static func cell(_ exchange: TracedExchange, child: Int64?, counts: TraceCounts?) -> Cell {
        func cell(_ part: TracedExchange.Part?) -> Cell {
            guard let part else { return .none }
            let headers = part.headers.map { Cell.object([("name", .text($0.name)), ("value", .text($0.value))]) }
            return .object([("headers", .list(headers)), ("body", .text(part.body))])
        }
        return .object([
            ("at", .text(DatabaseTime(microsecondsSince1970: exchange.at * 1_000).internetText)),
            ("child", Cell(child)),
            ("delivery", .integer(exchange.delivery)), ("token_hash", .text(exchange.tokenHash)),
            ("latency_ms", .number(Double(exchange.latencyMicroseconds) / 1_000)), ("request", cell(exchange.request)),
            ("answer", cell(exchange.answer)), ("failure", Cell(exchange.failure)),
            ("messages_so_far", Cell(counts?.matched)), ("lost_so_far", Cell(counts?.lost)),
            ("unchecked_so_far", Cell(counts?.unchecked)),
        ])
    }

    /// The time of day to the millisecond.
    private static func time(_ milliseconds: Int64) -> String {
        let text = DatabaseTime(microsecondsSince1970: milliseconds * 1_000).internetText
        return text.drop { $0 != "T" }.dropFirst().prefix(12) + "Z"
    }

    private static func milliseconds(_ microseconds: UInt32) -> String {
        "\(StatusText.tenths(Double(microseconds) / 1_000)) ms"
    }
}
