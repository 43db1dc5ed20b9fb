import Gateways
import PushCore

/// The events specific to the binary protocol.
extension GatewayReports {
    /// The gateway closes a connection for maintenance.
    func shutdown(_ identifier: UInt32) -> GatewayEvent {
        GatewayEvent(
            .goAway,
            reason: AnswerTable.apnsBinary(status: Int16(BinaryErrorPacket.shutdown)).reason,
            status: Int16(BinaryErrorPacket.shutdown),
            message: "\(gateway) gateway \(address) shuts down a connection after notification \(identifier). "
                + "Later messages are sent again."
        )
    }

    /// An error packet came after messages that it affects had been reported as accepted.
    func tooLate(_ packet: BinaryErrorPacket, _ number: Int, _ milliseconds: Int64) -> GatewayEvent {
        let row = AnswerTable.apnsBinary(status: Int16(packet.status))
        return GatewayEvent(
            .unproved,
            reason: row.reason,
            status: Int16(packet.status),
            message:
                "\(gateway) gateway \(address) sent error \(packet.status) (\(row.reason)) after more than \(milliseconds) ms: "
                + "\(number) messages that had been presumed accepted by then were not. " + Self.consequence,
            remedy: Self.remedy
        )
    }

    /// A connection ended without proof of the presumptions on it.
    ///
    /// - Parameter inAll: the number including earlier connections.
    func unproved(_ number: Int, inAll: Int, _ milliseconds: Int64) -> GatewayEvent {
        let sum = inAll > number ? " (\(inAll) including earlier connections)" : ""
        return GatewayEvent(
            .unproved,
            reason: AnswerTable.silence,
            message:
                "a connection to \(gateway) gateway \(address) ended without an error packet that proves them: \(number) messages "
                + "were presumed accepted on it after \(milliseconds) ms of silence and may not have been\(sum). "
                + Self.consequence,
            remedy: Self.remedy
        )
    }

    private static let setting = "increase nmac.binary.presumedAcceptedMs if this repeats"
    private static let consequence = "They have the reason \(AnswerTable.silence) and are not sent again; \(setting)."
    private static let remedy = "find out whether the gateway was stuck; \(setting)"
}
