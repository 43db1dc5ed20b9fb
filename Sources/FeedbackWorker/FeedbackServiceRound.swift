import Gateways
import Logging
import NIOPosix
import ProcessEvents
import PushCore
import Store

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads feedback services of APNs' binary gateway: which tokens have died. The gateway itself takes messages to them like any other,
/// so that this is the only way to hear of it.
struct FeedbackServiceRound: Sendable {
    let store: Store
    let readers: FeedbackReaders
    let worker: String
    let periodSeconds: Int
    let logger: Logger

    /// Services that are read at the same time.
    private static let width = 8
    /// A service that could not be reached is asked again after so long: it keeps what it has to tell for days.
    private static let pauseAfterTrouble = 300
    /// The most that is kept of what went wrong.
    private static let longestTrouble = 1_000

    /// Claims what is due and reads it; returns how many services that were.
    func run() async throws -> Int {
        let claimed = try await store.claimFeedbackReadings(
            worker: worker,
            limit: Self.width,
            periodSeconds: periodSeconds
        )
        await withDiscardingTaskGroup { group in
            for reading in claimed { group.addTask { await read(reading) } }
        }
        return claimed.count
    }

    private func read(_ reading: FeedbackReading) async {
        var trouble = ""
        do {
            let application = try await store.application(reading.applicationID)
            let account = try await store.account(reading.accountID)
            do {
                let reader = try await readers.reader(application, account)
                trouble = try await read(reader, reading, application.name).trouble
            } catch {
                trouble = "\(error)"
            }
            if !trouble.isEmpty {
                logger.warning(
                    "the feedback service of application \(application.name), account \(account.name), was not read to its end: \(trouble)",
                    metadata: ["application": "\(application.name)", "account": "\(account.name)"]
                )
            }
        } catch {
            trouble = "\(error)"
            logger.failure("a feedback service cannot be read", of: error)
        }
        let pause = trouble.isEmpty ? periodSeconds : min(periodSeconds, Self.pauseAfterTrouble)
        do {
            let words = String(trouble.prefix(Self.longestTrouble))
            try await store.endFeedbackReading(reading, trouble: words, pauseSeconds: pause)
        } catch {
            logger.failure("the end of a reading could not be noted, so the service is read again soon", of: error)
        }
    }

    private func read(
        _ reader: APNsFeedbackReader,
        _ reading: FeedbackReading,
        _ application: String
    ) async throws -> APNsFeedbackReport {
        let storing = FeedbackStoring(logger: logger) { entries in
            try await store.storeFeedback(reading, tokens: entries.map(\.token), since: entries.map(\.since))
        }
        let report = try await reader.read(eventLoop: MultiThreadedEventLoopGroup.singleton.next()) {
            try await storing.keep($0)
        }
        if report.entries > 0 {
            logger.info(
                "the feedback service has named \(report.entries) tokens of application \(application) whose app is gone"
            )
        }
        return report
    }
}

extension FeedbackWorker {
    /// How often it is looked whether a service is due.
    private static let serviceInterval = Duration.seconds(1)
    /// A worker that is asked to end brings a reading under way to its end, as the service has forgotten what it told; but it does not
    /// wait longer than this, well within the time that service managers give.
    private static let longestFarewell = Duration.seconds(30)

    /// Reads the feedback services of binary gateways, as long as it acts, until cancelled.
    func keepReading() async {
        guard let store = await open("feedback-reader") else { return }
        let round = FeedbackServiceRound(
            store: store,
            readers: FeedbackReaders(store: store, settings: setup.settings, environment: setup.environment),
            worker: id,
            periodSeconds: setup.settings.nmac.binary.feedbackPeriodSec,
            logger: setup.logger
        )
        var pause = makeBackOff()
        while !Task.isCancelled {
            do {
                let count = progress.isActing ? try await finish({ try await round.run() }, store) : 0
                pause.reset()
                if count == 0 { try? await Task.sleep(for: Self.serviceInterval) }
            } catch {
                if Task.isCancelled { break }
                let time = pause.next()
                let problem = "Feedback services could not be claimed, next attempt in \(time.pauseText)"
                setup.logger.failure(problem, of: error)
                try? await Task.sleep(for: time)
            }
        }
        await store.close()
    }

    /// Lets something come to its end even when this task is cancelled meanwhile. Who waits for a database that does not answer is
    /// freed by the end of its connection alone.
    private func finish<T: Sendable>(_ work: @escaping @Sendable () async throws -> T, _ store: Store) async throws -> T
    {
        let task = Task { try await work() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task {
                try await Task.sleep(for: Self.longestFarewell)
                task.cancel()
                await store.close()
            }
        }
    }
}

/// Makes the readers of feedback services of what the database and the settings say.
struct FeedbackReaders: Sendable {
    let store: Store
    let settings: Settings
    /// The process's variables, for systemd's credentials and for a proxy.
    let environment: [String: String]

    /// The reader of a service, with the application's certificate.
    func reader(_ application: ApplicationRow, _ account: AccountRow) async throws -> APNsFeedbackReader {
        let options = try GatewayOptions(
            settings,
            environment: environment,
            connector: account.connector,
            account: account.name,
            host: account.host,
            port: account.port,
            options: account.options
        )
        try options.checkTrustRoots()
        let time = try await store.databaseClock()
        let now = Date(timeIntervalSince1970: Double(time.microsecondsSince1970) / 1_000_000)
        return try GatewayFactory(now: { now }).feedbackReader(
            credential: try await certificate(of: application),
            options: options
        )
    }

    private func certificate(of application: ApplicationRow) async throws -> GatewayCredential {
        let row = try await store.credential(application: application.id)
        guard row.kind == .apnsCertificate else {
            throw GatewaySetupFailure(
                "the credential of application \(application.name) is no certificate, and a feedback service takes nothing else: "
                    + "set one with 'pushmta credential set \(application.name)'",
                isHostsFault: false
            )
        }
        return try CredentialOpener(settings, environment: environment).open(row.sealedCredential, of: application.name)
    }
}

/// Stores what a feedback service told, however often it takes: the service has forgotten it, so nobody else knows.
///
/// It is in memory only: what the database has not taken when the process ends is lost, and these subscriptions go on until the
/// service names them again.
struct FeedbackStoring: Sendable {
    let logger: Logger
    /// The pause before the second attempt; it doubles, up to ``longestPause``.
    var pause = Duration.milliseconds(200)
    /// A database that comes back after a failover is not kept waiting longer than this.
    var longestPause = Duration.seconds(5)
    let store: @Sendable ([APNsFeedbackEntry]) async throws -> Void

    /// Returns when the entries are stored; throws only what an attempt after its task's cancellation throws.
    func keep(_ entries: [APNsFeedbackEntry]) async throws {
        var backOff = BackOff(initial: pause, maximum: longestPause)
        while true {
            do {
                return try await store(entries)
            } catch {
                guard !Task.isCancelled else {
                    logger.critical("\(entries.count) tokens of a feedback service are lost: \(error)")
                    throw error
                }
                let text = "\(entries.count) tokens of a feedback service could not be stored, trying again"
                logger.failure(text, of: error)
                try? await Task.sleep(for: backOff.next())
            }
        }
    }
}
