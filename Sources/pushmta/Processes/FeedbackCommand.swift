import Administration
import ArgumentParser
import FeedbackWorker
import Foundation
import Logging
import OperatingSystem
import ProcessEvents
import PushCore
import Store
import UnixSignals

/// `pushmta feedback`: the process that queries feedback services for dead tokens, applies token events, counts
/// outcomes and hits, and deletes old data.
struct FeedbackCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "feedback",
        abstract: "Run the feedback worker: token events, statistics, retention.",
        discussion: """
            Any number of workers may run, on any hosts. One acts and the others stand by; if it is silent for 15 s, \
            another takes over. `pushmta status` shows which one acts. Each worker loads the hits that web processes \
            of its host have left on disk (web.workingPath). SIGTERM or SIGINT: end; another worker acts at once. It \
            waits for an unreachable database. It reads the feedback services of ios-binary gateways \
            (pushmta.feedback_service). For that, like a child, it needs the key of the credentials.
            """
    )

    @OptionGroup var global: GlobalOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let settings = loaded.values
        try OpenFiles.check("feedback worker", OpenFiles.base)
        let logger = ProcessLog.logger("feedback", settings)
        StartKey.report(settings, logger)
        let availability = DatabaseAvailability(logger: logger)
        let worker = FeedbackWorker(
            FeedbackSetup(
                settings: settings,
                connect: { role in
                    let limit = Store.lockTimeoutMilliseconds
                    let database = StoreSession.configuration(settings, role: role, lockTimeoutMilliseconds: limit)
                    return try await availability.opening(role) { try await Store.connect(database, onEvent: $0) }
                },
                hostName: ProcessInfo.processInfo.hostName,
                version: ProductVersion.text,
                logger: logger
            )
        )
        let service = ServiceManager(environment: ProcessInfo.processInfo.environment)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let watcher = Task {
            for await signal in signals {
                logger.notice("\(signal): ending.")
                service?.stopping("Ending")
                worker.drain()
            }
        }
        // The watchdog shares one thread pool with the worker's tasks.
        let watch = Task { await service?.keepWatch { await Task.yield() } }
        defer {
            watcher.cancel()
            watch.cancel()
        }
        logger.event(.processStarted, "Feedback worker \(worker.id) started")
        service?.ready("Running, feedback worker \(worker.id)")
        await worker.run()
    }
}
