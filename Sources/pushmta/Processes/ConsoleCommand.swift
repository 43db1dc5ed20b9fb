import Administration
import ArgumentParser
import Console
import Foundation
import Gateways
import Logging
import MetricsEndpoint
import OperatingSystem
import ProcessEvents
import PushCore
import Store
import UnixSignals

/// `pushmta console`: the process that serves pages to people, and its users.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Run the console, web pages for operators and marketing, and manage its users.",
        discussion: """
            The console is a process of its own, not part of `pushmta web`. That process serves devices anywhere; the \
            console serves people who may stop deliveries. Each has its own address and its own database role.
            """,
        subcommands: [ConsoleServeCommand.self, ConsoleUserCommand.self],
        defaultSubcommand: ConsoleServeCommand.self
    )
}

/// `pushmta console serve`, the default of `pushmta console`.
struct ConsoleServeCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the console.",
        discussion: """
            SIGTERM or SIGINT: accept no new connections, answer the requests under way, and end. SIGHUP: reload the \
            certificate for new connections. It listens on console.address, by default 127.0.0.1. On an address that \
            other machines reach it needs a certificate, and does not start without one (exit status 78). `pushmta \
            console user add` creates the first user.
            """
    )

    @OptionGroup var global: GlobalOptions

    func execute(_ loaded: LoadedSettings) async throws {
        var settings = loaded.values
        if !settings.console.databaseUrl.isEmpty {
            settings.database.url = settings.console.databaseUrl
            settings.database.origin = loaded.origin(of: "console.databaseUrl")
        }
        try OpenFiles.check("console", OpenFiles.base)
        let logger = ProcessLog.logger("console", settings)
        let server = try ConsoleServer(
            ConsoleSetup(
                settings: settings,
                database: StoreSession.configuration(settings, role: "console"),
                version: ProductVersion.text,
                meanings: { ReasonMeanings.explanation(of: $0) },
                credentials: ConsoleCredentials.sealing(settings),
                logger: logger,
                settingsInForce: Self.settingsInForce(loaded)
            )
        )
        let service = ServiceManager(environment: ProcessInfo.processInfo.environment)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        let watcher = Task {
            for await signal in signals {
                guard signal != .sighup else {
                    // The log says what becomes of the certificate.
                    service?.reloading()
                    server.reloadCertificate()
                    service?.ready("Serving")
                    continue
                }
                logger.notice("\(signal): draining.")
                service?.stopping("Draining: answering the requests under way")
                server.drain()
            }
        }
        let watch = Task { await service?.keepWatch { await server.turn() } }
        let pages = Task { await Self.serveMetrics(settings.metrics, logger) }
        defer {
            pages.cancel()
            watcher.cancel()
            watch.cancel()
        }
        let scheme = settings.console.hasTLS ? "https" : "http"
        let address = settings.console.address
        try await server.run { port in
            let text = "The console is at \(scheme)://\(address.contains(":") ? "[\(address)]" : address):\(port)/"
            logger.event(.processStarted, "\(text)")
            service?.ready(text)
        }
        logger.event(.processEnded, "Console ended")
    }

    /// Serves the process's metrics until cancelled: that it is alive, and what resources it uses.
    private static func serveMetrics(_ settings: MetricsSettings, _ logger: Logger) async {
        await MetricsServer.serve(
            at: settings.address,
            port: settings.consolePort,
            setting: "metrics.consolePort",
            logger: logger
        ) {
            var page = MetricsPage()
            page.addProcess("console", version: ProductVersion.text, isDatabaseUp: nil)
            return page.text
        }
    }

    /// The settings with their sources, without secrets.
    private static func settingsInForce(_ loaded: LoadedSettings) -> [SettingInForce] {
        Settings.definitions.map { definition in
            let (source, place): (SettingInForce.Source, String) =
                switch loaded.source(of: definition.key) {
                case .default: (.standard, "")
                case .file: (.file, loaded.file ?? "")
                case .environment: (.environment, SettingsLoader.variable(of: definition))
                case .flag: (.flag, "")
                }
            return SettingInForce(
                key: definition.key,
                value: definition.redactedText(in: loaded.values),
                unit: definition.unit,
                source: source,
                place: place
            )
        }
    }
}

/// What the reasons of gateways mean, from the answer table.
enum ReasonMeanings {
    private static let byReason: [String: String] = Dictionary(
        AnswerTable.rows.filter { !$0.reason.isEmpty }.map { ($0.reason, $0.explanation) },
        uniquingKeysWith: { first, _ in first }
    )

    /// The explanation of a recorded reason, found by the whole reason or by the word before its colon. What Adobe
    /// Campaign does about it is for those who move from there, and contradicts what the page shows.
    static func explanation(of reason: String) -> String? {
        let found = byReason[reason] ?? byReason[String(reason.prefix { $0 != ":" })]
        return found?.replacing(#/ \(Adobe[^)]*\)/#, with: "")
    }
}
