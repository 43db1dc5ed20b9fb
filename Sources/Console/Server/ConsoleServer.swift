// Console: pages in a browser for people who manage deliveries and hosts.
//
// WHAT IT DOES
//   Shows signed-in users what happens now, deliveries, templates, services with their applications, alarms, hosts,
//   and the settings in force with their sources. Users with the right role pause, resume and stop deliveries, let
//   applications send again, drain hosts and recycle children. They write drafts of deliveries, send proofs of them,
//   save them as templates and start them, and maintain seed addresses and exclusion lists. Administrators declare
//   and change services, applications and accounts, upload credentials, and see who did what. It finds subscribers by
//   key and offers outcomes of deliveries as CSV; both are recorded. All HTML is made here. Scripts only replace the
//   live part and read files into forms; without them, everything works by reloading and pasting.
//
// HOW IT IS USED
//   `pushmta console` makes a ConsoleServer from a ConsoleSetup and awaits run(onOpen:). SIGTERM and SIGINT call
//   drain(), SIGHUP calls reloadCertificate(). It is a process of its own, not part of `pushmta web`, which serves
//   devices anywhere: the two have different database roles and addresses, and if one fails the other goes on. Each
//   page is a ConsoleRoute in ConsoleRoutes.all, with its method, path and role. ConsoleResponder checks session,
//   role and form token before it calls the handler of the route. ConsoleFiles has the templates, style and script,
//   and Phrase the texts.
//
// THREADS AND TASKS
//   Two event loops, and one task per request on the general pool. Passwords are hashed one after the other on a
//   thread of their own. NowFeed reads the database for all live pages together, every two seconds while one is open;
//   DeliveryFeed does so for each delivery that is open in a page.
//
// STATE AND FILES
//   Users, sessions, failed sign-ins and the audit log are in the database. Cookies hold random tokens, of which the
//   database keeps hashes. An uploaded credential is sealed with the key of credentialKeyFile, if this user may read
//   it, and stored; its material is in memory only during that call. Apart from that, only the rates of the last
//   minutes are in memory, and losing them does no harm.
//
// FAILURES
//   Database unreachable: a page that says so, with status 503. Session expired: the sign-in page. Too many failed
//   sign-ins: the name, known or not, is locked for that address for a while, and the address for all names. A
//   browser or an address from which the user has signed in before has its own attempts. A client that sends slowly
//   or holds many connections loses them (HTTPConnections). Without TLS it does not start on an address that other
//   machines reach (ConsoleError of code setting, exit status 78).
//
// SETTINGS
//   console.*, database.url where console.databaseUrl is empty, credentialKeyFile.
//
// SEE ALSO
//   Server/ConsoleRoute.swift, Server/ConsoleResponder.swift, Sessions/SignIn.swift, Pages/ConsoleRoutes.swift,
//   Pages/NowFeed.swift, Pages/DeliveryFeed.swift, Applications/ApplicationPage.swift, Words/Phrase.swift,
//   Sources/ConsoleFiles/console_files.c, Sources/Schema/version1/11-console.sql, Deploy/guide/console.md

import HTTPConnections
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import PostgresClient
import ProcessEvents
import PushCore
import ServiceLifecycle
import Store
import Synchronization

/// The console: serves until ``drain()``.
package final class ConsoleServer: Sendable {
    let setup: ConsoleSetup
    let database: ConsoleDatabase
    let responder: ConsoleResponder
    /// The process's event loops, which end with the process: Hummingbird still uses them after it has reported that
    /// it is done.
    private let group = MultiThreadedEventLoopGroup.singleton
    private let running = Mutex<ServiceGroup?>(nil)
    private let isDraining = Mutex(false)
    /// The certificate for HTTPS; nil without TLS.
    private let certificate: ServerCertificate?

    /// The maximum number of connections: enough for a few hundred people with live pages.
    private static let connections = 1_000
    /// A client gets at most this fraction of them, so that it cannot shut others out; a whole office may be one
    /// client.
    private static let clientsOfAll = 4
    /// Requests take less, and live pages end at once.
    private static let drainTime = Duration.seconds(10)

    /// Makes a console without opening anything.
    ///
    /// - Throws: ``ConsoleError`` of code `setting`.
    package init(_ setup: ConsoleSetup) throws {
        if let problem = setup.settings.console.problems.first {
            throw ConsoleError(code: .setting, description: problem + ".")
        }
        self.setup = setup
        certificate = try ServerCertificate.ofConsole(setup.settings.console)
        database = ConsoleDatabase(setup)
        responder = try ConsoleResponder(setup: setup, database: database)
    }

    /// Returns when each event loop has run once after this call.
    package func turn() async {
        for turn in group.makeIterator().map({ $0.submit {} }) { try? await turn.get() }
    }

    /// Serves until ``drain()``, or until an error.
    ///
    /// - Parameter onOpen: called with the port as soon as connections are accepted.
    package func run(onOpen: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
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
                        "Cannot listen on \(settings.address), port \(settings.port): \(error). Does another process use it (console.address, console.port)?"
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

    /// Shuts down gracefully: requests under way are answered.
    package func drain() {
        isDraining.withLock { $0 = true }
        if let group = running.withLock({ $0 }) { Task { await group.triggerGracefulShutdown() } }
    }

    /// Reads the certificate and its key again, for new connections. If the files cannot be used, nothing changes.
    package func reloadCertificate() {
        guard let certificate else {
            return setup.logger.notice("There is no certificate to reload: console.certificateFile is empty.")
        }
        do {
            try certificate.reload()
            setup.logger.notice("The certificate of console.certificateFile was reloaded.")
        } catch {
            setup.logger.failure("The certificate cannot be reloaded; the one in use stays", of: error, level: .error)
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
            limit: Self.connections / Self.clientsOfAll,
            proxies: setup.settings.console.proxies ?? []
        )
        return HTTPServerBuilder { [certificate] responder in
            ConsoleChannel(responder: responder, clients: clients, certificate: certificate)
        }
    }
}

extension ServerCertificate {
    /// Reads the files that the console's settings name; nil without TLS.
    ///
    /// - Throws: ``ConsoleError`` of code `setting` if they cannot be used.
    static func ofConsole(_ settings: ConsoleSettings) throws(ConsoleError) -> ServerCertificate? {
        guard settings.hasTLS else { return nil }
        do throws(Problem) {
            return try ServerCertificate(
                Files(
                    certificate: settings.certificateFile,
                    key: settings.privateKeyFile,
                    certificateSetting: "console.certificateFile",
                    keySetting: "console.privateKeyFile",
                    use: "the console"
                )
            )
        } catch {
            throw ConsoleError(code: .setting, description: error.description)
        }
    }
}

/// Checks the certificate of the console, for doctor.
package enum ConsoleCertificateCheck {
    /// Why its files cannot be used; nil if they can, or if there are none.
    package static func problem(_ settings: ConsoleSettings) -> String? {
        do throws(ConsoleError) {
            _ = try ServerCertificate.ofConsole(settings)
            return nil
        } catch {
            return error.description
        }
    }
}

/// Why the console cannot start.
package struct ConsoleError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// A setting, or a file that it names, is wrong.
        case setting
        /// It cannot listen on the address or the port.
        case listening
    }

    /// The kind of failure.
    package let code: Code
    /// What happened, to which thing, why, and what to do.
    package let description: String
}
