import Foundation
import Gateways
import NIOCore
import NIOPosix
import ProcessProtocol
import PushCore
import Store

/// Tests whether a gateway takes an application's messages: it connects as a child does, and sends one test message.
package struct GatewayProbe: Sendable {
    /// An answer comes within a second; if silence counts as an answer, it takes several.
    private static let timeoutBeyondConnecting = Duration.seconds(15)

    private let settings: Settings
    private let store: Store
    private let registry: GatewayRegistry

    /// - Parameters:
    ///   - settings: the settings of this host's children.
    ///   - registry: the known gateways.
    package init(settings: Settings, store: Store, registry: GatewayRegistry = .standard) {
        self.registry = registry
        self.settings = settings
        self.store = store
    }

    /// Tests a gateway. Returns the results in the order of the steps; the first failure ends the test.
    ///
    /// - Parameters:
    ///   - token: a device's push token; nil uses one that no device has, whose refusal shows that everything else is
    ///     right.
    ///   - alert: a text for an iOS device to show; nil for a push that no user sees. FCM only validates the message in
    ///     any case.
    package func run(
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
        let kind: any GatewayKind
        do {
            gateway = try await GatewaySetup(settings: settings, store: store, registry: registry).gateway(
                application,
                account,
                now: now,
                eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                delegate: delegate
            )
            guard let known = registry.kind(of: account.connector, with: row.kind) else {
                throw GatewaySetupFailure("the credential was changed during the test: try again", isHostsFault: false)
            }
            kind = known
            results.append(
                ProbeResult("credential", .ok, "\(row.kind.text), fingerprint \(row.fingerprint.prefix(16))…")
            )
            try await gateway.start()
        } catch {
            return results + [ProbeResult(results.isEmpty ? "credential" : "connection", .failed, "\(error)")]
        }
        var reading = ProbeReading(kind: kind, address: "\(account.host):\(account.port)", hasToken: token != nil)
        let sends = token != nil || kind.answersWithoutDevice
        if sends { gateway.submit(ProbeMessage.batch(kind.trial(token: token, alert: alert))) }
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

    /// Whether a text can be a push token.
    package static func isToken(_ text: String) -> Bool { ProbeMessage.isToken(text) }
}
