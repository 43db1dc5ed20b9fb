import CLibPQ
import OperatingSystem

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension ConnectionLoop {
    /// What is known of a server after connecting.
    struct Greeting: Sendable {
        let backendPID: Int32
        let serverVersion: Int32
        /// The encoding of the database; nil if a pooler does not tell.
        let serverEncoding: String?
    }

    /// Starts the thread of a connection and waits until it is connected.
    static func start(_ configuration: PostgresConfiguration, mailbox: Mailbox) async throws -> Greeting {
        let greeting = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Greeting, any Error>) in
                do {
                    try DetachedThread.start { connectAndRun(configuration, mailbox, continuation) }
                } catch {
                    let message = "no thread for a database connection: \(error)"
                    continuation.resume(throwing: PostgresError(code: .connection, message: message))
                }
            }
        } onCancel: {
            mailbox.requestClose()
        }
        try Task.checkCancellation()
        return greeting
    }

    private static func connectAndRun(
        _ configuration: PostgresConfiguration,
        _ mailbox: Mailbox,
        _ continuation: CheckedContinuation<Greeting, any Error>
    ) {
        let notices = NoticeReceiver(configuration.onNotice)
        let connection: OpaquePointer
        do throws(PostgresError) {
            connection = try connect(configuration, mailbox, notices)
        } catch {
            mailbox.end(error)
            return continuation.resume(throwing: error.code == .closed ? CancellationError() : error)
        }
        PQsetnonblocking(connection, 1)
        // From here on PQerrorMessage has no text of the server, which may quote values; fields are read one by one.
        PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE)
        let loop = ConnectionLoop(connection: connection, mailbox: mailbox, notices: notices)
        let greeting = Greeting(
            backendPID: PQbackendPID(connection),
            serverVersion: PQserverVersion(connection),
            serverEncoding: PQparameterStatus(connection, "server_encoding").map { String(cString: $0) }
        )
        continuation.resume(returning: greeting)
        loop.run()
    }

    private static func connect(
        _ configuration: PostgresConfiguration,
        _ mailbox: Mailbox,
        _ notices: NoticeReceiver
    ) throws(PostgresError) -> OpaquePointer {
        if let problem = configuration.formProblem {
            let message = "the connection string cannot be read: \(problem)"
            throw PostgresError(code: .connection, message: message).advising(configuration.origin)
        }
        let servers = ServerAlternatives(configuration.connectionString)
        let limit = servers.connectTimeout ?? configuration.connectTimeout
        var failures: [PostgresError] = []
        for server in servers.overrides {
            do throws(PostgresError) {
                let parameters = ConnectionParameters(configuration, overrides: server)
                return try connect(parameters, limit, mailbox, notices)
            } catch {
                if error.code == .closed { throw error }
                failures.append(error)
                if error.isFinalForAllServers { break }
            }
        }
        throw PostgresError.merging(failures).advising(configuration.origin)
    }

    private static func connect(
        _ parameters: ConnectionParameters,
        _ limit: Duration,
        _ mailbox: Mailbox,
        _ notices: NoticeReceiver
    ) throws(PostgresError) -> OpaquePointer {
        let connection = parameters.withKeywords { PQconnectStartParams($0, $1, 1) }
        guard let connection else {
            throw PostgresError(code: .connection, message: "no memory for a connection")
        }
        do throws(PostgresError) {
            // Only so does a refusal tell its SQLSTATE.
            PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            notices.attach(to: connection)
            try drive(connection, limit, mailbox)
            return connection
        } catch {
            PQfinish(connection)
            throw error
        }
    }

    /// Polls until the connection is made; each server address has the whole time limit.
    private static func drive(
        _ connection: OpaquePointer,
        _ limit: Duration,
        _ mailbox: Mailbox
    ) throws(PostgresError) {
        var state = PGRES_POLLING_WRITING
        var place = ""
        var deadline = ContinuousClock.now + limit
        while state != PGRES_POLLING_OK {
            if state == PGRES_POLLING_FAILED || PQstatus(connection) == CONNECTION_BAD { throw refused(connection) }
            // The number of the socket does not tell: the next one often gets that of the one before.
            let current = Self.place(connection)
            if current != place {
                place = current
                deadline = .now + limit
            }
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            guard left > 0 else {
                let message = "cannot connect to \(place): no answer within \(limit)"
                throw PostgresError(code: .connection, message: message)
            }
            let readiness = Readiness.wait(
                socket: PQsocket(connection),
                reading: state == PGRES_POLLING_READING,
                writing: state == PGRES_POLLING_WRITING,
                wakeUp: mailbox.wakeUp,
                milliseconds: Int32(min(left.rounded(.up), 3_600_000))
            )
            while let mail = mailbox.takeOrSleep() {
                if mail.close { throw Mailbox.closedError }
            }
            if readiness.canRead || readiness.canWrite { state = PQconnectPoll(connection) }
        }
    }

    /// Host, address and port of the server that is being tried.
    private static func place(_ connection: OpaquePointer) -> String {
        let host = PQhost(connection).map { String(cString: $0) } ?? ""
        let address = PQhostaddr(connection).map { String(cString: $0) } ?? ""
        let port = PQport(connection).map { String(cString: $0) } ?? ""
        let name = address.isEmpty || address == host ? host : "\(host) (\(address))"
        return "\(name) port \(port)"
    }

    /// libpq's words name host, port, user and database; a password is never among them.
    private static func refused(_ connection: OpaquePointer) -> PostgresError {
        let refusal = RefusalText(String(cString: PQerrorMessage(connection)))
        let message = refusal.text.isEmpty ? "the connection could not be made" : refusal.text
        return PostgresError(code: .connection, sqlState: refusal.sqlState, message: message)
    }
}

/// Receives the server's notices from libpq, which would print them to standard error otherwise.
final class NoticeReceiver {
    /// An error with which the server ended the session while nothing was running.
    private(set) var stderrTail: PostgresError?
    /// Whether the server has given up waiting for its synchronous replica and acknowledges a commit all the same: it is on the
    /// primary alone, and a fail-over takes it away.
    private(set) var hasUnreplicatedCommit = false
    private let handler: (@Sendable (PostgresNotice) -> Void)?

    init(_ handler: (@Sendable (PostgresNotice) -> Void)?) { self.handler = handler }

    /// The function of the server that waits for synchronous replicas; it warns of nothing but a wait that was cut short, by a
    /// cancel request or an administrator.
    private static let replicationWait = "SyncRepWaitForLSN"

    /// Takes the notices of a connection; the receiver must outlive it.
    func attach(to connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().receive(result)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func receive(_ result: OpaquePointer) {
        // The warning's SQLSTATE is that of all warnings and its words are the server's language; its origin is neither.
        if PostgresError.field(result, .function) == Self.replicationWait { hasUnreplicatedCommit = true }
        if PostgresError.isFatal(result) {
            stderrTail = PostgresError(result: result)
        } else if let handler, let severity = PostgresError.field(result, .severity) {
            let state = PostgresError.field(result, .sqlState) ?? "00000"
            let message = PostgresError.field(result, .message) ?? ""
            let text = ValueRedaction.redact(message, sqlState: state)
            handler(PostgresNotice(severity: severity, sqlState: state, message: text))
        }
    }
}

/// A notice or warning that the server sent beside its results.
public struct PostgresNotice: Sendable, Hashable {
    /// The severity in English: `WARNING`, `NOTICE`, `INFO`, `LOG` or `DEBUG`.
    public let severity: String
    /// The five-character SQLSTATE.
    public let sqlState: String
    /// The primary message.
    public let message: String
}
