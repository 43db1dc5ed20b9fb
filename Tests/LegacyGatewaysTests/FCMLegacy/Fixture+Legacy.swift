import GatewaySimulator
import GatewayTestSupport
import Gateways
import NIOPosix
import PushCore

/// The simulator's legacy FCM, and messages for it.
extension Fixture {
    /// A gateway to the simulator that is not started.
    func legacyGateway(
        _ connector: Connector = .androidV2,
        connections: Int = 4,
        key: String? = nil,
        port: Int? = nil,
        caFile: String? = nil,
        change: (inout GatewayOptions) -> Void = { _ in }
    ) throws -> any Gateway {
        var options = try options(
            connector,
            port: port ?? simulator.fcmLegacyPort,
            connections: connections,
            caFile: caFile
        )
        change(&options)
        return try factory.make(
            connector: connector,
            credential: .projectKey(key ?? simulator.credentials.fcmProjectKey),
            topic: "",
            options: options,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: collector
        )
    }

    /// Messages, each with its own body or all with the same one.
    func legacyBatch(
        id: Int64 = 1,
        count: Int,
        isShared: Bool = false,
        tokens given: [String]? = nil
    ) -> GatewayRequestBatch {
        var tokens = ByteColumn()
        var bodies = ByteColumn()
        var ids: [MessageUUID] = []
        for row in 0..<count {
            let token = given?[row] ?? Self.token(UInt64(id) << 32 | UInt64(row))
            let uuid = MessageUUID(high: UInt64.random(in: .min ... .max), low: UInt64.random(in: .min ... .max))
            tokens.append(token.utf8)
            ids.append(uuid)
            bodies.append((isShared ? #"{"data":{"title":"Hello"}}"# : #"{"data":{"_mId":"\#(uuid)"}}"#).utf8)
        }
        return GatewayRequestBatch(
            id: id,
            tokens: tokens,
            messageIDs: ids,
            bodies: bodies,
            attributes: MessageAttributes()
        )
    }

    /// Sets faults of the legacy gateway.
    func setLegacyFaults(_ change: (inout FaultPlan) -> Void) throws {
        var plan = FaultPlan()
        change(&plan)
        try simulator.setFaults(plan, for: .fcmLegacy)
    }
}
