import CurlClient
import Gateways
import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Posts the batches of one webhook after another, as its plan decides. A slow receiver holds up no other.
struct WebhookPoster: Sendable {
    let store: Store
    let client: CurlClient
    let worker: String
    let consumer: Int32
    let settings: Settings
    /// The environment variables, for systemd's credentials.
    let environment: [String: String]
    let logger: Logger
    /// The longest pause while the database fails.
    let longestOutagePause: Duration
    /// Whether this worker acts, as far as it knows.
    let isActing: @Sendable () -> Bool

    /// More than any sensible answer.
    private static let maxAnswerBytes = 1 << 16

    /// Returns when the webhook is gone or disabled, when another worker acts, or when cancelled.
    func run() async {
        let clock = ContinuousClock()
        var generator = SystemRandomNumberGenerator()
        var plan = WebhookPlan(longestOutagePause: longestOutagePause, at: clock.now)
        var batch: WebhookBatch?
        var event = WebhookPlan.Event.tick
        while !Task.isCancelled {
            let actions = plan.handle(event, at: clock.now, using: &generator)
            guard !actions.isEmpty else { return }
            for action in actions {
                switch action {
                case .take: event = await take(&batch)
                case .post: event = await post(batch)
                case .record(let decision, let status, let words):
                    event = await record(batch, decision, status, words)
                case .rest(let end):
                    try? await clock.sleep(until: end)
                    event = .tick
                case .end: return
                }
            }
        }
    }

    private func take(_ batch: inout WebhookBatch?) async -> WebhookPlan.Event {
        guard isActing() else { return .inactive }
        do {
            batch = try await store.nextWebhookBatch(worker: worker, consumer: consumer)
            guard let batch else {
                return try await store.activeWebhooks().contains(consumer) ? .empty : .inactive
            }
            if batch.waitSeconds > 0 { return .waits(.seconds(batch.waitSeconds)) }
            return batch.events > 0 ? .taken(attempts: Int(batch.attempts)) : .void
        } catch {
            return failed("The events of a webhook cannot be read", error)
        }
    }

    private func record(
        _ batch: WebhookBatch?,
        _ decision: WebhookDecision,
        _ status: Int,
        _ words: String
    ) async -> WebhookPlan.Event {
        guard let batch else { return .recorded }
        var pause = 0.0
        let name: String
        switch decision {
        case .accepted: name = "accepted"
        case .again(let time):
            name = "again"
            pause = time / Duration.seconds(1)
        case .dead: name = "dead"
        case .gone: name = "gone"
        }
        if decision != .accepted { logger.warning("A webhook did not get through (\(name)): \(words)") }
        do {
            try await store.endWebhookBatch(
                batch.id,
                decision: name,
                status: Int32(clamping: status),
                words: words,
                pauseSeconds: pause
            )
            return .recorded
        } catch {
            return failed("What became of a webhook's batch cannot be recorded, so it is posted again", error)
        }
    }

    private func failed(_ words: String, _ error: any Error) -> WebhookPlan.Event {
        if !Task.isCancelled { logger.failure(words, of: error) }
        return .failed
    }

    private func post(_ batch: WebhookBatch?) async -> WebhookPlan.Event {
        guard let batch else { return .answered(.failure("there is no batch")) }
        let rules = settings.feedback.webhooks
        guard let target = WebhookTarget(batch.url) else {
            return .answered(.failure("its address is not an https address"))
        }
        guard target.isIn(rules.allowedHosts) else {
            return .answered(.failure("the host \(target.host) is not in feedback.webhooks.allowedHosts"))
        }
        let secrets: [WebhookSecret]
        do {
            let keys = try CredentialKeySource.load(settings, environment: environment)
            secrets = try await store.webhookSecrets(consumer: consumer).map { secret in
                WebhookSecret(
                    bytes: try keys.open(secret.sealed, keyID: secret.sealKeyID, credentialID: secret.id)
                )
            }
        } catch {
            return failed("The secret of a webhook cannot be opened", error)
        }
        return .answered(await answer(to: request(batch, secrets)))
    }

    private func request(_ batch: WebhookBatch, _ secrets: [WebhookSecret]) -> CurlRequest {
        let rules = settings.feedback.webhooks
        let timestamp = Int64(Date().timeIntervalSince1970)
        let body = Array(batch.body.utf8)
        let signatures = secrets.map { $0.signature(id: batch.id, timestamp: timestamp, body: body) }
        return CurlRequest(
            method: "POST",
            url: batch.url,
            headers: [
                CurlHeader("Content-Type", "application/cloudevents-batch+json"),
                CurlHeader("webhook-id", batch.id),
                CurlHeader("webhook-timestamp", String(timestamp)),
                CurlHeader("webhook-signature", signatures.joined(separator: " ")),
            ],
            body: body,
            timeoutMilliseconds: rules.timeoutSec * 1_000,
            connectTimeoutMilliseconds: rules.timeoutSec * 1_000,
            certificateAuthorityFile: rules.caFile.isEmpty ? nil : rules.caFile,
            maxResponseBytes: Self.maxAnswerBytes,
            reusesConnection: true
        )
    }

    private func answer(to request: CurlRequest) async -> WebhookAnswer {
        switch await perform(request) {
        case .success(let response):
            let pause = response.header("Retry-After").flatMap {
                RetryAfter.milliseconds($0, now: Int64(Date().timeIntervalSince1970))
            }
            return .status(response.status, retryAfter: pause.map { .milliseconds($0) })
        case .failure(let error):
            return .failure(
                error.code == .withheld
                    ? "its host has a private address, which feedback.webhooks.allowPrivateAddresses does not allow"
                    : error.message
            )
        }
    }

    /// Nothing leaves before the address that the connection really has is checked: what a name server said before
    /// proves nothing.
    private func perform(_ request: CurlRequest) async -> Result<CurlResponse, CurlError> {
        let allowsPrivate = settings.feedback.webhooks.allowPrivateAddresses
        let started = Mutex<CurlTransferID?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let id = client.start(
                    request,
                    mayLeave: { allowsPrivate || Self.isPublic(peer: $0.peer) },
                    completion: { continuation.resume(returning: $0) }
                )
                started.withLock { $0 = id }
            }
        } onCancel: {
            if let id = started.withLock({ $0 }) { client.cancel(id) }
        }
    }

    /// - Parameter peer: a numeric address and a port.
    static func isPublic(peer: String) -> Bool {
        guard let colon = peer.lastIndex(of: ":") else { return false }
        let address = peer[..<colon].filter { $0 != "[" && $0 != "]" }
        return IPAddress(address)?.isPublic ?? false
    }
}

/// The consumers whose webhooks are being posted.
private final class RunningWebhooks: Sendable {
    private let consumers = Mutex<Set<Int32>>([])

    /// Returns whether it was not running.
    func begin(_ consumer: Int32) -> Bool { consumers.withLock { $0.insert(consumer).inserted } }

    func end(_ consumer: Int32) { consumers.withLock { _ = $0.remove(consumer) } }
}

extension FeedbackWorker {
    /// How often to look for new webhooks.
    private static let webhookInterval = Duration.seconds(2)

    /// Posts the events of webhooks while this worker acts, until cancelled.
    func keepPosting() async {
        guard let store = await open("feedback-webhooks") else { return }
        let client = CurlClient()
        let running = RunningWebhooks()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for consumer in await webhooks(store) where running.begin(consumer) {
                    let poster = WebhookPoster(
                        store: store,
                        client: client,
                        worker: id,
                        consumer: consumer,
                        settings: setup.settings,
                        environment: setup.environment,
                        logger: setup.logger,
                        longestOutagePause: maxPause,
                        isActing: { self.isActing }
                    )
                    group.addTask {
                        await poster.run()
                        running.end(consumer)
                    }
                }
                try? await Task.sleep(for: Self.webhookInterval)
            }
        }
        await store.close()
    }

    private func webhooks(_ store: Store) async -> [Int32] {
        guard progress.isActing else { return [] }
        do {
            return try await store.activeWebhooks()
        } catch {
            if !Task.isCancelled { setup.logger.failure("Webhooks cannot be read, next attempt soon", of: error) }
            return []
        }
    }
}
