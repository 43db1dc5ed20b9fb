// WebServer: the web process: registrations and tracking hits of devices, the API, health pages.
//
// WHAT IT DOES
//   Stores what devices send before it answers, with many requests in one transaction. Keeps hits on disk while the
//   database is unreachable. Serves the JSON API below /api/v1 to systems with keys, the health pages /health/live and
//   /health/ready, /r/test, and metrics on a separate port.
//
// HOW IT IS USED
//   `pushmta web` makes a WebServer from a WebSetup, with the routes of WebAPI, and awaits run(onOpen:). SIGTERM and
//   SIGINT call drain(); SIGHUP calls reopenAccessLog() and reloadCertificate(). A connection passes ConnectionGuard
//   and DeviceShortcut, which answers the requests of devices. WebResponder dispatches by path: RegistrationEndpoint
//   and TrackingEndpoint serve devices, /health and /r/test have their own endpoints, and /api/ goes to Hummingbird's
//   router.
//
// THREADS AND TASKS
//   There are web.threads event loops, by default one per core; they belong to the process. A request's task runs on
//   its connection's loop; hits and registrations need no task. Writers gather items (GroupCommit), each with one
//   transaction at a time. Registrations, hits and reading have one database connection each; the API has three and one
//   for its keys, opened when needed. A spooled hit waits for the disk. Every wait for the database is limited. A
//   statement that exceeds its limit still blocks the next one on its connection.
//
// STATE AND FILES
//   web.workingPath (tracking spools) and the access log. Keys, applications and proof keys are cached and refreshed.
//   Everything answered with 200 is in the database or, for hits, on disk: a kill loses neither. Requests in progress get
//   no response.
//
// FAILURES
//   Database unreachable: the process starts anyway. Registrations wait web.registration.timeoutSec and get 503; hits
//   go to the spool and get 200; the API answers 503.
//   Spool full or disk broken: hits get 503. Too many connections or requests of a client: closed, or 429. A value that
//   the database rejects fails only its own registration. A certificate that cannot be reloaded leaves the old one in
//   use. The process works with the role Store.webRole, or warns. If time runs out at the end (web.drainTimeoutSec),
//   requests are cut off, and the next process loads the rest of the spool.
//
// SETTINGS
//   web.*, metrics.address and metrics.webPort; database.url if web.databaseUrl is empty; credentialKeyFile for the
//   keys of user key proofs.
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

/// The web process: stores registrations and tracking hits of devices before it answers them.
///
/// It starts and accepts hits even while the database is unreachable. ``drain()`` ends it: it accepts no new
/// connections, answers the requests in progress, and has stored everything it answered.
package final class WebServer: Sendable {
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
    /// The deadline of the drain.
    private let drainEnd = Mutex<ContinuousClock.Instant?>(nil)
    private let isRoleTold = Mutex(false)
    /// When to report the certificate again, and the last notice about it in the log.
    let certificateReport = Mutex<ContinuousClock.Instant?>(nil)
    let certificateNotice = Mutex<ExpiryNotice?>(nil)

    /// Makes a web process; opens only its folder and its access log.
    package init(_ setup: WebSetup) throws {
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
            maxMegabytes: settings.tracking.maxSpoolMb,
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
                maxBytes: settings.limits.maxBodyKb << 10
            ),
            tracking: TrackingEndpoint(
                writer: tracking,
                conversions: ConversionWriter(
                    store: stores.tracking,
                    resolver: resolver,
                    settings: settings.tracking,
                    logger: logger
                )
            ),
            test: TestEndpoint(
                hostName: setup.hostName,
                build: setup.version,
                showsSourceIP: settings.showSourceIP
            ),
            health: HealthEndpoint(health: health),
            routes: router.buildResponder(),
            trust: ProxyTrust(trusted: trusted),
            admission: ClientAdmission(
                limit: settings.limits.maxConnectionsPerClient,
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
    package func turn() async {
        for turn in setup.loops.makeIterator().map({ $0.submit {} }) { try? await turn.get() }
    }

    /// Serves until ``drain()``, or until an error.
    ///
    /// - Parameter onOpen: called as ports open.
    package func run(onOpen: @escaping @Sendable (WebPorts) -> Void = { _ in }) async throws {
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

    /// How long the end waits for the access log. Writing it takes less; if its pipe is not read, the rest is lost.
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

    /// Reopens the access log by name, for example after log rotation.
    package func reopenAccessLog() { accessLog.reopen() }

    /// The number of registrations that wait for their transaction.
    var waitingRegistrations: Int { registration.waiting }

    /// The number of hits that wait for their transaction.
    var waitingHits: Int { tracking.waiting }

    /// Drains and ends the process.
    package func drain() {
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
            // drain() may have been called before the start.
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

    /// Everything that was answered is already stored. Stores the counters and the spool as far as time allows; the
    /// next process loads the rest.
    private func finish() async {
        await tracking.report()
        if let end = drainEnd.withLock({ $0 }) { await tracking.loadSpool(until: end) }
        spool.close()
        await stores.close()
    }

    /// The time between test writes. Several must be tried before the database counts as not writable.
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

    /// Keeps the connections open, loads the spool and refreshes the caches.
    private func upkeep() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.stores.keepConnected() }
            group.addTask { await self.feelPulse() }
            group.addTask {
                var round = 0
                var connections: UInt64 = 0
                while !Task.isCancelled {
                    if self.stores.reading.isConnected {
                        // After a failover the new server may lack the latest keys and have others.
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
                "Application \(name): its declarations cannot be read, so its devices are not registered (503): \(problem)"
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
                    "The database user \(role) is not a member of \(Store.webRole), so this process runs with all of the user's rights; see web.databaseUrl."
                )
            }
        } catch {
            setup.logger.failure("The database's schema cannot be read", of: error)
        }
    }
}

/// Checks the settings of the web process, except files and ports.
package enum WebSettingsCheck {
    /// The problems, with what to set instead.
    package static func problems(_ settings: WebSettings) -> [String] {
        var problems: [String] = []
        if AddressRange.list(settings.limits.trustedProxies) == nil { problems.append(proxyProblem(settings)) }
        if settings.address.isEmpty || settings.address.contains(where: \.isWhitespace) {
            problems.append(
                "web.address is “\(settings.address)”: give an address of this machine, or 0.0.0.0 or :: for all."
            )
        }
        return problems
    }

    static func proxyProblem(_ settings: WebSettings) -> String {
        "web.limits.trustedProxies is “\(settings.limits.trustedProxies)”: give addresses and ranges such as 10.0.0.0/8, separated by commas."
    }
}
