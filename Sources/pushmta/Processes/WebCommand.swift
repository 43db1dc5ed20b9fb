import Administration
import ArgumentParser
import Foundation
import Gateways
import Logging
import NIOCore
import OperatingSystem
import ProcessEvents
import PushCore
import Store
import UnixSignals
import WebServer

/// `pushmta web`: the process that devices register with and send their receipts to.
struct WebCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "web",
        abstract: "Run the web process: registration and tracking of devices, and the API.",
        discussion: """
            SIGTERM or SIGINT: accept no new connections, answer the requests under way, and end. It also starts \
            without the database: until that is reachable, hits are kept on disk (web.workingPath), and registrations \
            wait for some seconds before they are refused. SIGHUP: reopen the access log, as after logrotate has moved \
            it, and reload the certificate.
            """
    )

    @OptionGroup var global: GlobalOptions

    func execute(_ loaded: LoadedSettings) async throws {
        var settings = loaded.values
        if !settings.web.databaseUrl.isEmpty {
            settings.database.url = settings.web.databaseUrl
            settings.database.origin = loaded.origin(of: "web.databaseUrl")
        }
        try OpenFiles.check("web process", OpenFiles.base)
        if settings.web.threads > 0 { NIOSingletons.groupLoopCountSuggestion = settings.web.threads }
        let logger = ProcessLog.logger("web", settings)
        let database = StoreSession.configuration(
            settings,
            role: "web",
            lockTimeoutMilliseconds: Store.lockTimeoutMilliseconds
        )
        StartKey.report(settings, logger)
        let availability = DatabaseAvailability(logger: logger)
        let keyring: @Sendable () throws -> CredentialKeyring = { [settings] in
            try CredentialKeySource.load(settings, environment: ProcessInfo.processInfo.environment)
        }
        let api = WebAPI(
            settings: settings.web,
            database: database,
            version: ProductVersion.text,
            logger: logger,
            availability: availability,
            keyring: keyring
        )
        let server = try WebServer(
            WebSetup(
                settings: settings,
                database: database,
                hostName: ProcessInfo.processInfo.hostName,
                version: ProductVersion.text,
                logger: logger,
                availability: availability,
                keyring: keyring,
                addRoutes: { api.addRoutes(to: $0) }
            )
        )
        let service = ServiceManager(environment: ProcessInfo.processInfo.environment)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let watcher = Task {
            for await signal in signals {
                guard signal != .sighup else {
                    // If there is a certificate, the log says what becomes of it.
                    logger.notice("\(signal): reopening the access log.")
                    service?.reloading()
                    server.reopenAccessLog()
                    server.reloadCertificate()
                    service?.ready("Serving, access log reopened")
                    continue
                }
                logger.notice("\(signal): draining.")
                service?.stopping("Draining: answering the requests under way")
                server.drain()
            }
        }
        let watch = Task { await service?.keepWatch { await server.turn() } }
        defer {
            watcher.cancel()
            watch.cancel()
        }
        do {
            try await server.run { ports in
                let open = [ports.plain.map { "HTTP on port \($0)" }, ports.tls.map { "HTTPS on port \($0)" }]
                let text = "Serving \(open.compactMap(\.self).joined(separator: " and "))"
                logger.event(.processStarted, "\(text)")
                service?.ready(text)
            }
        } catch {
            await api.close()
            throw error
        }
        await api.close()
        logger.event(.processEnded, "Web process ended")
    }
}
