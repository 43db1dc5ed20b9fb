// WebServer: the web process: registrations and tracking hits of devices, the API, health pages.
//
// WHAT IT DOES
//   Stores what devices send before it answers, many requests in a transaction, and keeps hits on disk while the database is
//   away. Serves the JSON API below /api/v1 to systems with keys, and /health/live, /health/ready and /r/test to those who
//   look after it, and metrics on a port of their own.
//
// HOW IT IS USED
//   `pushmta web` makes a WebServer of a WebSetup, with the routes of WebAPI, and awaits run(onOpen:). SIGTERM and SIGINT
//   call drain(); SIGHUP calls reopenAccessLog() and reloadCertificate(). A connection passes ConnectionGuard and
//   DeviceShortcut, which answers what devices send; WebResponder finds the path: RegistrationEndpoint and TrackingEndpoint are
//   the devices', /health and /r/test have their own, and /api/ goes to Hummingbird's router.
//
// THREADS AND TASKS
//   web.threads event loops, by default one a core; they are the process's and end with it. A request's task runs on its
//   connection's loop; a hit and a registration have no task at all.
//   Writers gather items (GroupCommitter), one transaction at a time each. Registrations, hits and reading have a connection
//   each, the API three and one for its keys, made when they are needed. A spooled hit waits for the disk. Nobody waits
//   longer for the database than his limit says; a statement whose time is over still blocks the next one on its connection.
//
// STATE AND FILES
//   web.workingPath (tracking spools) and the access log. Keys, applications and proofs are cached and read again. Everything
//   that was answered with 200 is in the database, or is a hit on disk: a kill loses neither. Requests under way get no
//   answer.
//
// FAILURES
//   Database away: it starts all the same; registrations wait web.registration.timeoutSec and get 503; hits go to the spool
//   and get 200; the API answers 503. Spool full or disk broken: hits get 503. Too many connections or requests of a client:
//   closed or 429. A value that the database refuses costs its own registration only. A certificate that cannot be read again
//   leaves the old one. It works under the role of Store.webRole, or warns. Out of time at the end (web.drainTimeoutSec):
//   requests are cut off, and what is left in the spool is loaded by whoever comes next.
//
// SETTINGS
//   web.*, metrics.address and metrics.webPort, and database.url where web.databaseUrl is empty; credentialKeyFile for the
//   proofs of user keys.
//
// SEE ALSO
//   Server/WebResponder.swift, Connections/WebChannel.swift, Devices/RegistrationWriter.swift,
//   Devices/TrackingWriter.swift, API/WebAPI.swift, Database/GroupCommitter.swift, Monitoring/WebHealth.swift,
//   Deploy/guide/devices.md

import Foundation
import HTTPConnections
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import PostgresClient
import ProcessEvents
import PushCore
import ServiceLifecycle
import Store
import Synchronization
import TrackingSpools

/// The web process: takes registrations and tracking hits of devices and stores them before it answers.
///
/// It starts and takes hits while the database is away. ``drain()`` ends it: no new connections, requests under way are
/// answered, everything that was answered is stored.
public final class WebServer: Sendable {
    let setup: WebSetup
    let stores: WebStores
    private let spool: TrackingSpool
    private let registration: RegistrationWriter
    private let tracking: TrackingWriter
    private let directory: ApplicationDirectory
    private let resolver: HitResolver
    private let proofs: UserKeyProofs
    let health: WebHealth
    let counters: WebCounters
    private let accessLog: AccessLog
    private let responder: WebResponder
    let listeners: WebListeners
    private let services: Mutex<ServiceGroup?> = Mutex(nil)
    private let isDraining = Mutex(false)
    /// When what it was asked to end is to be over.
    private let drainEnd = Mutex<ContinuousClock.Instant?>(nil)
    private let isRoleTold = Mutex(false)
    /// When the certificate is to be reported again, and what the log has said of it.
    let certificateReport = Mutex<ContinuousClock.Instant?>(nil)
    let certificateNotice = Mutex<ExpiryNotice?>(nil)

    /// Makes a web process; nothing is opened but its folder and its log.
    public init(_ setup: WebSetup) throws {
        self.setup = setup
        let settings = setup.settings.web
        let logger = setup.logger
        let source = UUID()
        guard let trusted = AddressRange.list(settings.limits.trustedProxies) else {
            throw WebServerError(code: .setting, description: WebSettingsCheck.proxyProblem(settings))
        }
        do {
            accessLog = try AccessLog(
                path: settings.accessLog,
                format: AccessLog.Format(isJSON: setup.settings.log.format == "json", host: setup.hostName)
            )
        } catch {
            throw WebServerError(
                code: .setting,
                description: "The access log \(settings.accessLog) (web.accessLog) cannot be written: \(error)."
            )
        }
        counters = WebCounters()
        stores = WebStores(setup)
        spool = try TrackingSpool(
            folder: settings.workingPath,
            mostMegabytes: settings.tracking.maxSpoolMb,
            source: source,
            created: WallClock.microseconds,
            logger: logger
        )
        let onFailure: @Sendable (any Error) -> Void = { logger.failure("The database cannot be read", of: $0) }
        directory = ApplicationDirectory(
            store: stores.reading,
            timeout: .seconds(settings.registration.timeoutSec),
            onFailure: onFailure
        )
        proofs = UserKeyProofs(store: stores.reading, keyring: setup.keyring, counters: counters, logger: logger)
        resolver = HitResolver(store: stores.reading, onFailure: onFailure)
        tracking = TrackingWriter(
            store: stores.tracking,
            resolver: resolver,
            spool: spool,
            source: source,
            host: setup.hostName,
            settings: settings.tracking,
            counters: counters,
            logger: logger
        )
        registration = RegistrationWriter(
            store: stores.registration,
            settings: settings.registration,
            counters: counters,
            logger: logger
        )
        health = WebHealth(
            registrationStore: stores.registration,
            trackingStore: stores.tracking,
            spool: spool,
            counters: counters
        )
        let router = Router(context: WebContext.self)
        setup.addRoutes(router)
        responder = WebResponder(
            registration: RegistrationEndpoint(
                directory: directory,
                writer: registration,
                proofs: proofs,
                mostBytes: settings.limits.maxBodyKb << 10
            ),
            tracking: TrackingEndpoint(writer: tracking),
            test: TestEndpoint(
                hostName: setup.hostName,
                build: setup.version,
                showsSourceIP: settings.showSourceIP
            ),
            health: HealthEndpoint(health: health),
            routes: router.buildResponder(),
            trust: ProxyTrust(trusted: trusted),
            admission: ClientAdmission(
                most: settings.limits.maxConnectionsPerClient,
                trust: ProxyTrust(trusted: trusted),
                counters: counters,
                logger: logger
            ),
            settings: settings,
            counters: counters,
            accessLog: accessLog,
            logger: logger
        )
        listeners = WebListeners(settings: settings, logger: logger)
    }

    /// Returns when each event loop has had a turn after this call.
    public func turn() async {
        for turn in setup.loops.makeIterator().map({ $0.submit {} }) { try? await turn.get() }
    }

    /// Serves until ``drain()``, or until an error.
    ///
    /// - Parameter onOpen: told of the ports as they are opened.
    public func run(onOpen: @escaping @Sendable (WebPorts) -> Void = { _ in }) async throws {
        let keeping = Task { await upkeep() }
        let log = Task { await accessLog.run() }
        let metrics = Task { await serveMetrics() }
        let result = await serve(onOpen)
        keeping.cancel()
        await keeping.value
        await finish()
        metrics.cancel()
        log.cancel()
        await Self.wait(for: log, atMost: Self.logTimeout)
        try result.get()
    }

    /// Its access log, when it ends, is written in less; if nobody reads the pipe it goes to, the rest is lost.
    private static let logTimeout = Duration.seconds(2)

    private static func wait(for task: Task<Void, Never>, atMost time: Duration) async {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let pause = Task {
            try? await Task.sleep(for: time)
            end.finish()
        }
        Task {
            await task.value
            end.finish()
        }
        for await _ in ends {}
        pause.cancel()
    }

    /// Opens its access log again by its name, after somebody has moved the file away.
    public func reopenAccessLog() { accessLog.reopen() }

    /// Registrations that wait for their transaction.
    var waitingRegistrations: Int { registration.waiting }

    /// Hits that wait for their transaction.
    var waitingHits: Int { tracking.waiting }

    /// Ends the process in good order.
    public func drain() {
        health.drain()
        let end = ContinuousClock.now + .seconds(setup.settings.web.drainTimeoutSec)
        drainEnd.withLock { $0 = $0 ?? end }
        isDraining.withLock { $0 = true }
        let running = services.withLock { $0 }
        if let running { Task { await running.triggerGracefulShutdown() } }
    }

    private func serve(_ onOpen: @escaping @Sendable (WebPorts) -> Void) async -> Result<Void, any Error> {
        do {
            var configuration = ServiceGroupConfiguration(
                services: try listeners.services(responder: responder, group: setup.loops, onOpen: onOpen).map {
                    .init(service: $0, successTerminationBehavior: .ignore)
                },
                logger: setup.logger
            )
            configuration.maximumGracefulShutdownDuration = .seconds(setup.settings.web.drainTimeoutSec)
            let running = ServiceGroup(configuration: configuration)
            services.withLock { $0 = running }
            // It may have been asked to end before it began.
            guard !isDraining.withLock({ $0 }) else { return .success(()) }
            try await running.run()
            return .success(())
        } catch let error as WebServerError {
            return .failure(error)
        } catch let error as IOError {
            let settings = setup.settings.web
            return .failure(
                WebServerError(
                    code: .listening,
                    description:
                        "Cannot listen on \(settings.address), port \(settings.port) or \(settings.tlsPort): \(error). Is another process there (web.address, web.port, web.tlsPort)?"
                )
            )
        } catch  where isDraining.withLock({ $0 }) {
            setup.logger.failure("Requests were cut off at the end of web.drainTimeoutSec", of: error)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Everything that was answered is stored already; what is counted and what waits on disk may be, too, as far as the time
    /// allows: whoever comes next loads the rest.
    private func finish() async {
        await tracking.report()
        if let end = drainEnd.withLock({ $0 }) { await tracking.loadSpool(until: end) }
        spool.close()
        await stores.close()
    }

    /// A write of its own: some reach the database in the time after which it counts as one that takes none.
    private static let pulsePause = Duration.seconds(2)

    private func feelPulse() async {
        while !Task.isCancelled {
            if stores.reading.isConnected {
                let takesWrites = (try? await stores.reading.takesWrites()) ?? false
                health.pulse.note(takesWrites)
            }
            try? await Task.sleep(for: Self.pulsePause)
        }
    }

    private static let upkeepPause = Duration.seconds(1)
    private static let slowUpkeep = 10

    /// Keeps connected, loads the spool, and reads what is kept here again.
    private func upkeep() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.stores.keepConnected() }
            group.addTask { await self.feelPulse() }
            group.addTask {
                var round = 0
                var connections: UInt64 = 0
                while !Task.isCancelled {
                    if self.stores.reading.isConnected {
                        // It may be another server now, which has lost the last keys and made others.
                        let made = self.stores.reading.connectionsMade
                        if made != connections { round = 0 }
                        connections = made
                        if round % Self.slowUpkeep == 0 {
                            await self.checkSchema()
                            await self.resolver.refresh()
                            await self.reportCertificate()
                            self.spool.adoptOrphans()
                        }
                        await self.directory.refresh()
                        await self.proofs.refresh()
                        self.tellUnreadable()
                        round += 1
                    }
                    await self.tracking.report()
                    try? await Task.sleep(for: Self.upkeepPause)
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    await self.tracking.loadSpool()
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
        }
    }

    private func tellUnreadable() {
        for (name, problem) in health.note(unreadable: directory.unreadable) {
            setup.logger.error(
                "Application \(name): what it declares cannot be read, so its devices are not registered (503): \(problem)"
            )
        }
    }

    private func checkSchema() async {
        do {
            let problem = try await stores.schemaProblem()
            health.note(schemaProblem: problem)
            if let problem { setup.logger.error("\(problem)") }
            let role = try await stores.role()
            if role != Store.webRole, isRoleTold.withLock({ !$0 }) {
                isRoleTold.withLock { $0 = true }
                setup.logger.warning(
                    "The database user \(role) is no member of \(Store.webRole), so this process has all of its rights; see web.databaseUrl."
                )
            }
        } catch {
            setup.logger.failure("The database's schema cannot be read", of: error)
        }
    }
}

/// What a web process is made from.
public struct WebSetup: Sendable {
    /// The settings of all processes.
    public var settings: Settings
    /// How it connects to the database: a connection each for registrations, tracking and reading.
    public var database: PostgresConfiguration
    public var hostName: String
    public var version: String
    public var logger: Logger
    /// Whether the database is there, as all connections of the process see it.
    public var availability: DatabaseAvailability
    /// Reads the keys that secrets of proofs of user keys are sealed with.
    public var keyring: @Sendable () throws -> CredentialKeyring
    /// The event loops of all connections. The web process does not end them: what Hummingbird does last with them, it does after it has
    /// said that it is done.
    public var loops: MultiThreadedEventLoopGroup
    /// Adds routes below `/api/`.
    public var addRoutes: @Sendable (Router<WebContext>) -> Void

    public init(
        settings: Settings,
        database: PostgresConfiguration,
        hostName: String,
        version: String,
        logger: Logger,
        availability: DatabaseAvailability? = nil,
        keyring: @escaping @Sendable () throws -> CredentialKeyring,
        loops: MultiThreadedEventLoopGroup = .singleton,
        addRoutes: @escaping @Sendable (Router<WebContext>) -> Void = { _ in }
    ) {
        self.settings = settings
        self.database = database
        self.hostName = hostName
        self.version = version
        self.logger = logger
        self.availability = availability ?? DatabaseAvailability(logger: logger)
        self.keyring = keyring
        self.loops = loops
        self.addRoutes = addRoutes
    }
}

/// What the web process would refuse of its settings, beside files and ports.
public enum WebSettingsCheck {
    /// What is wrong, and what to give instead.
    public static func problems(_ settings: WebSettings) -> [String] {
        var problems: [String] = []
        if AddressRange.list(settings.limits.trustedProxies) == nil { problems.append(proxyProblem(settings)) }
        if settings.address.isEmpty || settings.address.contains(where: \.isWhitespace) {
            problems.append(
                "web.address is “\(settings.address)”: give an address of this machine, 0.0.0.0 or :: for all."
            )
        }
        return problems
    }

    static func proxyProblem(_ settings: WebSettings) -> String {
        "web.limits.trustedProxies is “\(settings.limits.trustedProxies)”: give addresses and ranges such as 10.0.0.0/8, separated with commas."
    }
}

/// Why the web process cannot start.
public struct WebServerError: Error, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// A setting is wrong, or a file that it names.
        case setting
        /// An address or port cannot be listened on.
        case listening
    }

    /// What kind of failure it is.
    public let code: Code
    /// What happened, to which thing, why, and what to do.
    public let description: String
}
