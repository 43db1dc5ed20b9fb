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

/// `pushmta trace`: requests and answers of an application on the wire, live.
struct TraceCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Watch requests and answers of an application on the wire, live.",
        discussion: """
            Shows HTTP/2 headers and bodies of what this host's children of the application send to APNs and FCM (HTTP v1), with the \
            answers. It asks the supervisor of this host through a socket in mta.workingPath that only the supervisor's user may open. \
            Sending waits for nothing: so many exchanges a second are shown as --per-second says, and what finds no room is counted.

            Keys, provider tokens and access tokens are never shown, push tokens as their SHA-256 hash. Texts and values of messages are \
            masked; --unmask shows them, which is put on record in the audit log first. Ends after --seconds, after --count exchanges, \
            with its reader, or with Ctrl-C. Exit status 75: it was refused, as when as many traces as may be go on already; 69: no \
            supervisor runs here, or it has ended.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(name: .customLong("app"), help: "The application by name.")
    var application: String

    @Option(help: "Only messages to the push token with this SHA-256 hash: printf %s TOKEN | sha256sum.")
    var tokenHash: String?

    @Option(help: "Only messages of this delivery, by its id; of a continuous one the id of its day.")
    var delivery: Int64?

    @Option(help: "Exchanges a second and child that are shown at most, up to 100.")
    var perSecond = TraceLimits.usualPerSecond

    @Option(help: "After how many seconds it ends, up to 3600.")
    var seconds = 600

    @Option(help: "After how many exchanges it ends.")
    var count: Int?

    @Flag(help: "Show texts and values of messages; it is put on record in the audit log.")
    var unmask = false

    @Flag(help: "Print each exchange as a line of JSON.")
    var json = false

    func validate() throws {
        if let tokenHash, !PushTokenHash.isHash(tokenHash) {
            throw ValidationError("--token-hash takes 64 hexadecimal digits: printf %s TOKEN | sha256sum prints them.")
        }
        if let count, count < 1 { throw ValidationError("--count is \(count): give a number from 1.") }
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
        let printer = TracePrinter(json: json, most: count)
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
        // The socket is the supervisor's user's; who became that one says sudo.
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

/// The way to the supervisor of this host.
struct TraceClient: Sendable {
    /// How a trace ends.
    enum End: Sendable {
        /// The supervisor has said so, in its last line.
        case told(TraceLine)
        /// Nobody wants to see more.
        case enough
        /// The supervisor is gone without a word.
        case lost
    }

    /// The socket.
    let path: String

    /// Asks for a trace and hands out each line, as long as more is wanted.
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
                "The socket \(path) may not be opened by this user: run it as the user of the supervisor, as with sudo -u pushmta."
            )
        } catch {
            throw CommandFailure(
                .unavailable,
                "No supervisor of this host listens on \(path): is one running, and is mta.workingPath the same here? (\(error))"
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
