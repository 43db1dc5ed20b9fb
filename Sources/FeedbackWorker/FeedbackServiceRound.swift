import Gateways
import LegacyGateways
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

/// Reads the feedback services of APNs' binary gateway, which report dead tokens. The gateway itself accepts messages
/// to dead tokens like any other, so this is the only way to learn of them.
struct FeedbackServiceRound: Sendable {
    let store: Store
    let readers: FeedbackReaders
    let worker: String
    let periodSeconds: Int
    let logger: Logger

    /// The maximum number of services read in parallel.
    private static let width = 8
    /// Seconds until an unreachable service is read again: it keeps its reports for days.
    private static let pauseAfterTrouble = 300
    /// The maximum length of a stored error, in characters.
    private static let maxTrouble = 1_000

    /// Claims and reads the services that are due; returns their number.
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
                    "The feedback service of application \(application.name), account \(account.name), was not read completely: \(trouble)",
                    metadata: ["application": "\(application.name)", "account": "\(account.name)"]
                )
            }
        } catch {
            trouble = "\(error)"
            logger.failure("A feedback service could not be read", of: error)
        }
        let pause = trouble.isEmpty ? periodSeconds : min(periodSeconds, Self.pauseAfterTrouble)
        do {
            let words = String(trouble.prefix(Self.maxTrouble))
            try await store.endFeedbackReading(reading, trouble: words, pauseSeconds: pause)
        } catch {
            logger.failure("The end of a reading could not be recorded, so the service is read again soon", of: error)
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
                "The feedback service reported \(report.entries) tokens of application \(application) whose app is no longer installed"
            )
        }
        return report
    }
}

extension FeedbackWorker {
    /// How often to check whether a service is due.
    private static let serviceInterval = Duration.seconds(1)
    /// The maximum time that an ending worker spends on completing a reading: the service has forgotten what it
    /// reported. It is well within the time that service managers allow.
    private static let maxFarewell = Duration.seconds(30)

    /// Reads the feedback services of binary gateways while this worker acts, until cancelled.
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

    /// Completes work even if this task is cancelled, within ``maxFarewell``. Then it closes the connection,
    /// because cancellation does not end a wait for a database that does not answer.
    private func finish<T: Sendable>(_ work: @escaping @Sendable () async throws -> T, _ store: Store) async throws -> T
    {
        let task = Task { try await work() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task {
                try await Task.sleep(for: Self.maxFarewell)
                task.cancel()
                await store.close()
            }
        }
    }
}

/// Creates readers of feedback services from the database and the settings.
struct FeedbackReaders: Sendable {
    let store: Store
    let settings: Settings
    /// The environment variables, for systemd's credentials and for a proxy.
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
        return try APNsFeedbackReader(
            credential: try await certificate(of: application),
            options: options,
            now: now
        )
    }

    private func certificate(of application: ApplicationRow) async throws -> GatewayCredential {
        let row = try await store.credential(application: application.id)
        guard row.kind == .apnsCertificate else {
            throw GatewaySetupFailure(
                "the credential of application \(application.name) is not a certificate, and a feedback service accepts nothing else: "
                    + "set one with 'pushmta credential set \(application.name)'",
                isHostsFault: false
            )
        }
        return try CredentialOpener(settings, environment: environment).open(row.sealedCredential, of: application.name)
    }
}

/// Stores what a feedback service reported, however long it takes: the service has forgotten it, so this is the only
/// copy.
///
/// The copy is only in memory: what is not stored when the process ends is lost. These subscriptions then stay active
/// until the service reports them again.
struct FeedbackStoring: Sendable {
    let logger: Logger
    /// The pause before the second attempt; it doubles, up to ``maxPause``.
    var pause = Duration.milliseconds(200)
    /// The maximum pause, so that storing continues soon after a failover.
    var maxPause = Duration.seconds(5)
    let store: @Sendable ([APNsFeedbackEntry]) async throws -> Void

    /// Returns when the entries are stored; throws only an error after the task was cancelled.
    func keep(_ entries: [APNsFeedbackEntry]) async throws {
        var backOff = BackOff(initial: pause, maximum: maxPause)
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
