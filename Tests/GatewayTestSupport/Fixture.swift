import Foundation
import GatewaySimulator
import Gateways
import LegacyGateways
import NIOCore
import NIOPosix
import PushCore
import TestSupport

/// A simulator in its own folder, and gateways that trust its CA and use its credentials.
package struct Fixture: Sendable {
    /// All gateways.
    private static let registry = GatewayRegistry([APNsKind(), FCMv1Kind(), APNsBinaryKind(), FCMLegacyKind()])

    package static let topic = "com.example.app"

    package let simulator: GatewaySimulator
    package let folder: String
    package let collector = Collector()
    package let clock: ManualClock
    package let factory: GatewayFactory

    /// Runs a test with a simulator and removes it afterwards.
    package static func run(
        clock: ManualClock = ManualClock(),
        options change: (inout GatewaySimulatorOptions) -> Void = { _ in },
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let folder = NSTemporaryDirectory() + "gateways-" + UUID().uuidString
        var options = GatewaySimulatorOptions(stateFolder: folder)
        change(&options)
        let simulator = try await GatewaySimulator.start(options)
        let fixture = Fixture(
            simulator: simulator,
            folder: folder,
            clock: clock,
            factory: GatewayFactory(registry, now: clock.now)
        )
        do {
            try await body(fixture)
        } catch {
            await fixture.end()
            throw error
        }
        await fixture.end()
        if let problem = fixture.collector.problem { throw TestSupportError(problem) }
    }

    private func end() async {
        await simulator.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    package var apnsCredential: GatewayCredential {
        .apnsTokenKey(
            keyID: simulator.credentials.apnsKeyID,
            teamID: simulator.credentials.apnsTeamID,
            pem: Array(simulator.credentials.apnsKeyPEM.utf8)
        )
    }

    package var serviceAccount: GatewayCredential {
        .serviceAccount(json: Array(simulator.credentials.serviceAccountJSON.utf8))
    }

    /// A started gateway to the simulator.
    package func gateway(
        _ connector: Connector,
        connections: Int = 1,
        topic: String = Fixture.topic,
        caFile: String? = nil,
        credential: GatewayCredential? = nil
    ) async throws -> any Gateway {
        let isAPNs = connector == .iosHTTP2
        let gateway = try factory.make(
            connector: connector,
            credential: credential ?? (isAPNs ? apnsCredential : serviceAccount),
            topic: topic,
            options: try options(
                connector,
                port: isAPNs ? simulator.apnsPort : simulator.fcmPort,
                connections: connections,
                caFile: caFile
            ),
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: collector
        )
        try await gateway.start()
        return gateway
    }

    /// The options of an account on this machine that trusts the simulator.
    package func options(
        _ connector: Connector,
        port: Int,
        connections: Int = 1,
        caFile: String? = nil,
        proxy: GatewayProxy? = nil
    ) throws -> GatewayOptions {
        var settings = Settings()
        // Defaults must not trigger anything on a slow machine unless a test changes them.
        settings.mta.child.requestTimeoutSec = 60
        settings.mta.child.connectTimeoutSec = 20
        settings.nmac.relay.trustedCertsChain = caFile ?? simulator.caFile
        var options = try GatewayOptions(
            settings,
            environment: [:],
            connector: connector,
            account: "test",
            host: "127.0.0.1",
            port: Int32(port),
            options: #"{"connections":\#(connections)}"#
        )
        options.proxy = proxy
        return options
    }

    /// Messages with good tokens, or the given ones.
    package func batch(
        id: Int64 = 1,
        _ connector: Connector,
        count: Int,
        tokens given: [String]? = nil,
        attributes: MessageAttributes = MessageAttributes(),
        collapseIDs: ByteColumn? = nil
    ) -> GatewayRequestBatch {
        var tokens = ByteColumn()
        var bodies = ByteColumn()
        var ids: [MessageUUID] = []
        for row in 0..<count {
            let token = given?[row] ?? Self.token(UInt64(id) << 32 | UInt64(row))
            let uuid = MessageUUID(high: UInt64.random(in: .min ... .max), low: UInt64.random(in: .min ... .max))
            tokens.append(token.utf8)
            ids.append(uuid)
            let body =
                connector == .iosHTTP2
                ? #"{"aps":{"alert":"Hello \#(row)"},"_mId":"\#(uuid)"}"#
                : #"{"message":{"token":"\#(token)","data":{"_mId":"\#(uuid)","_dId":"12"}}}"#
            bodies.append(body.utf8)
        }
        return GatewayRequestBatch(
            id: id,
            tokens: tokens,
            messageIDs: ids,
            bodies: bodies,
            attributes: attributes,
            collapseIDs: collapseIDs
        )
    }

    /// A push token of 64 hexadecimal digits.
    package static func token(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "a", count: 64 - digits.count) + digits
    }
}
