/// What only the binary protocol has to tell.
extension GatewayReports {
    /// The gateway is to be maintained.
    func shutdown(_ identifier: UInt32) -> GatewayEvent {
        GatewayEvent(
            .goAway,
            reason: AnswerTable.apnsBinary(status: Int16(BinaryErrorPacket.shutdown)).reason,
            status: Int16(BinaryErrorPacket.shutdown),
            message: "\(gateway) gateway \(address) shuts a connection down behind notification \(identifier). "
                + "What it did not take is sent again."
        )
    }

    /// An error packet came when messages of it had been reported as accepted.
    func tooLate(_ packet: BinaryErrorPacket, _ number: Int, _ milliseconds: Int64) -> GatewayEvent {
        let row = AnswerTable.apnsBinary(status: Int16(packet.status))
        return GatewayEvent(
            .unproved,
            reason: row.reason,
            status: Int16(packet.status),
            message:
                "\(gateway) gateway \(address) sent error \(packet.status) (\(row.reason)) after more than \(milliseconds) ms: "
                + "\(number) messages that were taken for accepted by then were not. " + Self.remedy
        )
    }

    /// A connection ended, and nothing has proved what was presumed on it.
    ///
    /// - Parameter inAll: with those of the connections before it.
    func unproved(_ number: Int, inAll: Int, _ milliseconds: Int64) -> GatewayEvent {
        let sum = inAll > number ? " (\(inAll) with those of connections before it)" : ""
        return GatewayEvent(
            .unproved,
            reason: AnswerTable.silence,
            message:
                "a connection to \(gateway) gateway \(address) ended without an error packet that proves them: \(number) messages "
                + "were taken for accepted on it after \(milliseconds) ms of silence and may not have been\(sum). "
                + Self.remedy
        )
    }

    private static let remedy =
        "They have the reason \(AnswerTable.silence) and are not sent again; "
        + "make nmac.binary.presumedAcceptedMs longer if this repeats."
}
