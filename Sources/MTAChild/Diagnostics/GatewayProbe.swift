import Foundation
import Gateways
import NIOCore
import NIOPosix
import ProcessProtocol
import PushCore
import Store

/// Tries whether an application's messages would be taken: the way a child goes, with one message of its own.
public struct GatewayProbe: Sendable {
    /// An answer comes within a second; a binary gateway's silence counts as one after some.
    private static let timeoutBeyondConnecting = Duration.seconds(15)

    private let settings: Settings
    private let store: Store

    /// - Parameter settings: those of the children of this host.
    public init(settings: Settings, store: Store) {
        self.settings = settings
        self.store = store
    }

    /// Tries a gateway; the results in the order of the steps. One failure ends it.
    ///
    /// - Parameters:
    ///   - token: the push token of a device; nil tries with one that no device has, whose refusal shows that all else is right.
    ///   - alert: a text for an iOS device to show; nil for a push that nobody sees. FCM only checks the message in any case.
    public func run(
        _ application: ApplicationRow,
        _ account: AccountRow,
        token: String?,
        alert: String?
    ) async throws -> [ProbeResult] {
        var results: [ProbeResult] = []
        let row = try await store.credential(application: application.id)
        let clock = try await store.databaseClock()
        let start = ContinuousClock.now
        let now: @Sendable () -> Date = {
            let passed = (ContinuousClock.now - start) / .seconds(1)
            return Date(timeIntervalSince1970: Double(clock.microsecondsSince1970) / 1_000_000 + passed)
        }
        if let expiresAt = row.expiresAt, expiresAt <= clock {
            let left = Double(expiresAt.microsecondsSince1970 - clock.microsecondsSince1970) / 1_000_000
            let detail =
                "\(row.kind.text) \(ExpiryNotice.text(secondsLeft: left)): "
                + "set a new one with `pushmta credential set \(application.name)`"
            return [ProbeResult("credential", .failed, detail)]
        }
        let delegate = ProbeDelegate()
        let gateway: any Gateway
        do {
            gateway = try await GatewaySetup(settings: settings, store: store).gateway(
                application,
                account,
                now: now,
                eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                delegate: delegate
            )
            results.append(
                ProbeResult("credential", .ok, "\(row.kind.text), fingerprint \(row.fingerprint.prefix(16))…")
            )
            try await gateway.start()
        } catch {
            return results + [ProbeResult(results.isEmpty ? "credential" : "connection", .failed, "\(error)")]
        }
        let format = PayloadFormat(connector: account.connector, usesProjectKey: row.kind == .fcmProjectKey)
        var reading = ProbeReading(format: format, address: "\(account.host):\(account.port)", hasToken: token != nil)
        // The binary protocol says nothing of a good message and closes after a bad one: without a device there is nothing to learn.
        let sends = token != nil || format != .apnsBinary
        if sends { gateway.submit(ProbeMessage(format: format, token: token, alert: alert).batch()) }
        let timeout = Duration.seconds(settings.mta.child.connectTimeoutSec) + Self.timeoutBeyondConnecting
        let alarm = Task {
            try await Task.sleep(for: timeout)
            delegate.giveUp()
        }
        for await sign in delegate.signs {
            results += reading.read(sign, sends: sends)
            if reading.isDone { break }
        }
        alarm.cancel()
        await withTimeout(MTAChild.timeout) { await gateway.shutdown() }
        return results
    }

    /// Whether a text can be a push token at all.
    public static func isToken(_ text: String) -> Bool { ProbeMessage.isToken(text) }
}

/// Passes what a gateway tells on to whoever tries it.
final class ProbeDelegate: GatewayDelegate {
    /// Something that the gateway told, or the end of the timeout.
    enum Sign: Sendable {
        case event(GatewayEvent)
        case outcome(Outcome)
        case timeUp
    }

    /// All signs in their order.
    let signs: AsyncStream<Sign>
    private let continuation: AsyncStream<Sign>.Continuation

    init() {
        (signs, continuation) = AsyncStream.makeStream()
    }

    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome]) {
        for outcome in outcomes { continuation.yield(.outcome(outcome)) }
    }

    func gatewayEvent(_ event: GatewayEvent) {
        continuation.yield(.event(event))
    }

    func giveUp() {
        continuation.yield(.timeUp)
    }
}
