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
        abstract: "Run the console, pages for people in a browser, and say who may use it.",
        discussion: """
            A process of its own, and no part of `pushmta web`: that one faces devices of the whole world, this one faces people who may \
            stop deliveries; each has its own address and its own role in the database.
            """,
        subcommands: [ConsoleServeCommand.self, ConsoleUserCommand.self],
        defaultSubcommand: ConsoleServeCommand.self
    )
}

/// `pushmta console serve`, which is what `pushmta console` does.
struct ConsoleServeCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the console.",
        discussion: """
            SIGTERM or SIGINT: take no new connections, answer what is under way, end. SIGHUP: read the certificate again, for the \
            connections that come from then on. It listens on console.address, 127.0.0.1 until told otherwise; on an address that other \
            machines reach it needs a certificate, and does not start without one (exit status 78). `pushmta console user add` makes \
            the first user.
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
                    // The log says what becomes of it.
                    service?.reloading()
                    server.reloadCertificate()
                    service?.ready("Serving")
                    continue
                }
                logger.notice("\(signal): draining.")
                service?.stopping("Draining: answering what is under way")
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

    /// Serves what monitoring reads of the process, until cancelled: it is there, and what it takes of the machine.
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

    /// The settings as they were read, with what each came from, secrets left out.
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

/// What reasons of gateways mean, by the table of answers.
enum ReasonMeanings {
    private static let byReason: [String: String] = Dictionary(
        AnswerTable.rows.filter { !$0.reason.isEmpty }.map { ($0.reason, $0.explanation) },
        uniquingKeysWith: { first, _ in first }
    )

    /// The explanation of a recorded reason: word for word, or by the word before its colon.
    static func explanation(of reason: String) -> String? {
        byReason[reason] ?? byReason[String(reason.prefix { $0 != ":" })]
    }
}
