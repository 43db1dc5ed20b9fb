import CLibPQ
import OperatingSystem

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension ConnectionLoop {
    /// What a server reports on connecting.
    struct Greeting: Sendable {
        let backendPID: Int32
        let serverVersion: Int32
        /// The encoding of the database; nil if a pooler does not report it.
        let serverEncoding: String?
    }

    /// Starts the thread of a connection and waits until it is connected.
    static func start(_ configuration: PostgresConfiguration, mailbox: Mailbox) async throws -> Greeting {
        let greeting = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Greeting, any Error>) in
                do {
                    try DetachedThread.start { connectAndRun(configuration, mailbox, continuation) }
                } catch {
                    let message = "cannot start a thread for a database connection: \(error)"
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
        // From here on PQerrorMessage omits the server's text, which may quote values; the fields are read one by one.
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
            throw PostgresError(code: .connection, message: "out of memory for a connection")
        }
        do throws(PostgresError) {
            // Only a verbose refusal contains its SQLSTATE.
            PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            notices.attach(to: connection)
            try drive(connection, limit, mailbox)
            return connection
        } catch {
            PQfinish(connection)
            throw error
        }
    }

    /// Polls until connected; each server address gets the whole time limit.
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
            // The socket's number does not show a new address: the next socket often reuses the last one's.
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

    /// The host, address and port that is being tried.
    private static func place(_ connection: OpaquePointer) -> String {
        let host = PQhost(connection).map { String(cString: $0) } ?? ""
        let address = PQhostaddr(connection).map { String(cString: $0) } ?? ""
        let port = PQport(connection).map { String(cString: $0) } ?? ""
        let name = address.isEmpty || address == host ? host : "\(host) (\(address))"
        return "\(name) port \(port)"
    }

    /// libpq's message may name host, port, user and database, but never a password.
    private static func refused(_ connection: OpaquePointer) -> PostgresError {
        let refusal = RefusalText(String(cString: PQerrorMessage(connection)))
        let message = refusal.text.isEmpty ? "the connection could not be opened" : refusal.text
        return PostgresError(code: .connection, sqlState: refusal.sqlState, message: message)
    }
}
