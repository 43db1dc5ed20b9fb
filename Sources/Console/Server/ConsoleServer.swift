// Console: pages in a browser for people who look after deliveries and hosts.
//
// WHAT IT DOES
//   Shows what happens now, deliveries, templates, services with their applications, alarms, hosts, and the settings in force
//   with what each came from, to those who have signed in; pauses, resumes and stops deliveries, lets applications send again,
//   drains hosts and recycles children for those whose role may; has drafts of deliveries written, proved, kept as templates and
//   started, seed addresses and exclusion lists looked after; lets administrators declare and change services, applications and
//   accounts, upload credentials, and see who did what. Looks subscribers up, by key and never as a list, and hands outcomes of
//   deliveries out as CSV; both are on record. Everything is HTML that is made here; scripts exchange the live part and read
//   files into forms, and without them all works by reloading and pasting.
//
// HOW IT IS USED
//   `pushmta console` makes a ConsoleServer of a ConsoleSetup and awaits run(onOpen:); SIGTERM and SIGINT call drain(), SIGHUP
//   calls reloadCertificate(). It is a process of its own, and not part of `pushmta web`, which faces the devices of the world:
//   another role in the database, another address, and neither falls with the other. Each page is a ConsoleRoute in
//   ConsoleRoutes.all, which says what method, path and role it has; ConsoleResponder looks at session, role and form token
//   before the route's handler is called. Templates, style and script are those of ConsoleFiles, words those of Phrase.
//
// THREADS AND TASKS
//   Two event loops; a task a request, on the general pool. Passwords are hashed on one thread of their own, one after the
//   other. NowFeed reads the database for all live pages together, every two seconds as long as one is open; DeliveryFeed does
//   so for each delivery that somebody looks at.
//
// STATE AND FILES
//   Users, sessions, failures to sign in and the audit log are in the database; cookies have random tokens of which it keeps
//   hashes. A credential that is uploaded is sealed with the key of credentialKeyFile, if this user may read it, and stored;
//   its material is in memory for that moment only. Else there are rates of the last minutes in memory, which are not missed
//   after a kill.
//
// FAILURES
//   Database away: a page that says so, with status 503. A session that is over: the sign-in page. Too many failures to sign in:
//   the name is locked for that address for a while, known or not, and the address for all names; a browser or an address that the
//   user has signed in from before has tries of its own. A client that sends slowly or holds many connections loses them
//   (HTTPConnections). An address that other machines reach without TLS: it does not start
//   (ConsoleError of code setting, exit status 78).
//
// SETTINGS
//   console.*, database.url where console.databaseUrl is empty, credentialKeyFile.
//
// SEE ALSO
//   Server/ConsoleRoute.swift, Server/ConsoleResponder.swift, Sessions/SignIn.swift, Pages/ConsoleRoutes.swift,
//   Pages/NowFeed.swift, Pages/DeliveryFeed.swift, Applications/ApplicationPage.swift, Words/Phrase.swift,
//   Sources/ConsoleFiles/console_files.c, Sources/Schema/version1/11-console.sql, Deploy/guide/console.md

import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PostgresClient
import ProcessEvents
import PushCore
import ServiceLifecycle
import Store
import Synchronization

/// What a console is made from.
public struct ConsoleSetup: Sendable {
    /// The settings of all processes.
    public var settings: Settings
    /// How it connects to the database.
    public var database: PostgresConfiguration
    public var version: String
    /// What the answers of gateways mean, by their reason.
    public var meanings: @Sendable (String) -> String?
    /// How credentials are sealed that people upload.
    public var credentials: CredentialSealing
    public var logger: Logger
    /// The settings that are in force, with what each came from, for the page that shows them.
    public var settingsInForce: [SettingInForce]
    /// What time it is for sessions and locks; nil for the database's own time, which is what it is but in tests.
    public var moment: @Sendable () -> DatabaseTime?

    public init(
        settings: Settings,
        database: PostgresConfiguration,
        version: String,
        meanings: @escaping @Sendable (String) -> String?,
        credentials: CredentialSealing,
        logger: Logger,
        settingsInForce: [SettingInForce] = [],
        moment: @escaping @Sendable () -> DatabaseTime? = { nil }
    ) {
        self.settings = settings
        self.database = database
        self.version = version
        self.meanings = meanings
        self.credentials = credentials
        self.logger = logger
        self.settingsInForce = settingsInForce
        self.moment = moment
    }
}

/// The console: serves until ``drain()``.
public final class ConsoleServer: Sendable {
    let setup: ConsoleSetup
    let database: ConsoleDatabase
    let responder: ConsoleResponder
    /// The process's event loops, which end with it: what Hummingbird does last with them, it does after it has said that it is done.
    private let group = MultiThreadedEventLoopGroup.singleton
    private let running = Mutex<ServiceGroup?>(nil)
    private let isDraining = Mutex(false)
    /// What HTTPS is served with; nil without.
    private let certificate: ConsoleCertificate?

    /// Connections at once: a few hundred people with live pages.
    private static let connections = 1_000
    /// A client has at most this part of them, so that one alone cannot shut others out; an office may be one client.
    private static let clientsOfAll = 4
    /// Requests take less; live pages end at once.
    private static let drainTime = Duration.seconds(10)

    /// Makes a console; nothing is opened.
    ///
    /// - Throws: ``ConsoleError`` of code `setting`.
    public init(_ setup: ConsoleSetup) throws {
        if let problem = setup.settings.console.problems.first {
            throw ConsoleError(code: .setting, description: problem + ".")
        }
        self.setup = setup
        certificate = setup.settings.console.hasTLS ? try ConsoleCertificate(setup.settings.console) : nil
        database = ConsoleDatabase(setup)
        responder = try ConsoleResponder(setup: setup, database: database)
    }

    /// Returns when each event loop has had a turn after this call.
    public func turn() async {
        for turn in group.makeIterator().map({ $0.submit {} }) { try? await turn.get() }
    }

    /// Serves until ``drain()``, or until an error.
    ///
    /// - Parameter onOpen: told of the port as soon as connections are accepted.
    public func run(onOpen: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
        let result: Result<Void, any Error>
        do {
            try await serve(onOpen)
            result = .success(())
        } catch let error as IOError {
            let settings = setup.settings.console
            result = .failure(
                ConsoleError(
                    code: .listening,
                    description:
                        "Cannot listen on \(settings.address), port \(settings.port): \(error). Is another process there (console.address, console.port)?"
                )
            )
        } catch  where isDraining.withLock({ $0 }) {
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await database.close()
        await responder.close()
        try result.get()
    }

    /// Ends the process in good order: requests under way are answered.
    public func drain() {
        isDraining.withLock { $0 = true }
        if let group = running.withLock({ $0 }) { Task { await group.triggerGracefulShutdown() } }
    }

    /// Reads the certificate and its key again, for the connections that come from now on; files that cannot be used change nothing.
    public func reloadCertificate() {
        guard let certificate else {
            return setup.logger.notice("There is no certificate to read again: console.certificateFile is empty.")
        }
        do {
            try certificate.reload()
            setup.logger.notice("The certificate of console.certificateFile was read again.")
        } catch {
            setup.logger.failure("The certificate stays the one that was read before", of: error, level: .error)
        }
    }

    private func serve(_ onOpen: @escaping @Sendable (Int) -> Void) async throws {
        let settings = setup.settings.console
        if let notice = settings.proxyNotice { setup.logger.notice("\(notice).") }
        let application = Application(
            responder: responder.router(),
            server: builder(),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.address, port: settings.port),
                backlog: 256,
                reuseAddress: true,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.connections, logger: setup.logger)
            ),
            onServerRunning: { channel in onOpen(channel.localAddress?.port ?? settings.port) },
            eventLoopGroupProvider: .shared(group),
            logger: setup.logger
        )
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: application, successTerminationBehavior: .ignore)],
            logger: setup.logger
        )
        configuration.maximumGracefulShutdownDuration = Self.drainTime
        let services = ServiceGroup(configuration: configuration)
        running.withLock { $0 = services }
        guard !isDraining.withLock({ $0 }) else { return }
        try await services.run()
    }

    private func builder() -> HTTPServerBuilder {
        let clients = ConsoleClients(
            most: Self.connections / Self.clientsOfAll,
            proxies: setup.settings.console.proxies ?? []
        )
        return HTTPServerBuilder { [certificate] responder in
            ConsoleChannel(responder: responder, clients: clients, certificate: certificate)
        }
    }
}

/// The certificate of the console: it can be read again while connections are open, which keep the one that they have.
public final class ConsoleCertificate: Sendable {
    private let settings: ConsoleSettings
    private let current: Mutex<NIOSSLContext>

    /// Reads the files of the settings.
    ///
    /// - Throws: ``ConsoleError`` of code `setting` if they cannot be used.
    init(_ settings: ConsoleSettings) throws(ConsoleError) {
        self.settings = settings
        current = Mutex(try Self.read(settings))
    }

    /// Reads the files again; what cannot be used changes nothing.
    func reload() throws(ConsoleError) {
        let read = try Self.read(settings)
        current.withLock { $0 = read }
    }

    /// What new connections are served with.
    var context: NIOSSLContext { current.withLock(\.self) }

    /// Why the files of the settings cannot be used; nil if they can, or if there are none.
    public static func problem(_ settings: ConsoleSettings) -> String? {
        guard settings.hasTLS else { return nil }
        do {
            _ = try read(settings)
            return nil
        } catch {
            return error.description
        }
    }

    private static func read(_ settings: ConsoleSettings) throws(ConsoleError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(settings.certificateFile).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: settings.privateKeyFile, format: .pem))
            )
            configuration.minimumTLSVersion = .tlsv12
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ConsoleError(
                code: .setting,
                description:
                    "console.certificateFile “\(settings.certificateFile)” and console.privateKeyFile “\(settings.privateKeyFile)” cannot be used: \(words(error)). Give PEM files that belong together."
            )
        }
    }

    /// What the library found, for people: its own words are names of its program.
    private static func words(_ error: any Error) -> String {
        switch error as? NIOSSLError {
        case .failedToLoadCertificate?: "the certificate cannot be read, or is none in PEM"
        case .failedToLoadPrivateKey?: "the key cannot be read, or is none in PEM without a passphrase"
        default: "\(error)"
        }
    }
}

/// Why the console cannot start.
public struct ConsoleError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// A setting is wrong, or a file that it names.
        case setting
        /// The address or the port cannot be listened on.
        case listening
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let description: String
}
