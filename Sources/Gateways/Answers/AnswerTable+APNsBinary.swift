// A table with one line per row, wider than other code.
// swift-format-ignore-file

import PushCore

extension GatewayAnswers {
    /// The answers of the binary protocol.
    package static let apnsBinary = GatewayAnswers(.apnsBinary, AnswerTable.apnsBinaryRows)
}

extension AnswerTable {
    /// All answers of the binary protocol and its feedback service, and what silence means.
    ///
    /// Sources: Apple, "Binary Provider API"; Adobe Campaign, "Delivery failures", push error types of the connector
    /// iOS binary, which knows the failures payload, certificate and connection, all soft and *unreachable*. Statuses
    /// that it does not mention use the terms of its connector iOS HTTP/2.
    static let apnsBinaryRows: [AnswerRow] = apnsBinaryPackets + apnsBinaryUnanswered + apnsBinaryChecks

    /// Statuses of error packets. The gateway closes the connection after each, so it is always replaced.
    private static let apnsBinaryPackets: [AnswerRow] = [
        packet(0, "NoErrors", .accepted, "no error was found, and the gateway closes the connection"),
        packet(1, "ProcessingError", .retry, fault: .server, failure: .softUnreachable, "the gateway has an internal error"),
        packet(2, "MissingDeviceToken", .permanent, failure: .softRefused, "the subscription's push token is empty"),
        // The topic comes from the certificate, so all messages share it.
        packet(3, "MissingTopic", .stopApplication, application: .stop, failure: .softUnreachable, "the certificate names no topic: set the application's own push certificate"),
        packet(4, "MissingPayload", .permanent, failure: .softUndefined, "the payload is empty: correct the delivery's content"),
        packet(5, "InvalidTokenSize", .permanent, token: .softError, doubtful: true, failure: .softRefused, "the push token has a length that the gateway does not know; the token is kept, and counted"),
        packet(6, "InvalidTopicSize", .stopApplication, application: .stop, failure: .softUnreachable, "the certificate's topic is malformed: set the application's own push certificate"),
        packet(7, "InvalidPayloadSize", .permanent, failure: .softUnreachable, "the payload is larger than 2,048 bytes: shorten the content"),
        packet(8, "InvalidToken", .permanent, token: .invalid, failure: .hardUserUnknown, "the push token is invalid or of the other environment; when many are refused, no token is touched: check the application's environment"),
        packet(10, "Shutdown", .unprocessed, failure: .softUnreachable, "the gateway is shutting down and names the last message that it accepted; this row is for the messages after it, which are sent again"),
        packet(128, "ProtocolError", .permanent, doubtful: true, failure: .softUndefined, "the gateway could not read the message: when many are refused, check that the address is a binary gateway's"),
        packet(255, "None", .retry, fault: .unknown, failure: .softUndefined, "the gateway refuses the message without knowing the reason: it is tried again"),
        packet(0, "", .retry, fault: .unknown, failure: .softUndefined, "an undocumented status: the message is tried again"),
    ]

    /// The reason of a message that was written and got no answer in time.
    package static let timeout = "Timeout"
    /// The reason of a message whose connection ended before its answer came.
    package static let connectionLost = "ConnectionLost"

    /// The reason of a message that counts as accepted because the gateway stayed silent.
    package static let silence = "Silence"

    /// Rows for messages that the gateway did not answer.
    private static let apnsBinaryUnanswered: [AnswerRow] = [
        unanswered("ConnectionLost", isWritten: true, "the connection ended without an error packet"),
        unanswered("Timeout", isWritten: true, "the gateway's host did not acknowledge what was sent"),
        unanswered("UnknownIdentifier", isWritten: true, "the error packet names no message of the connection"),
        unanswered("", isWritten: true, "the connection ended"),
        unanswered(NoAnswerReason.discarded, isWritten: false, "the gateway refused an earlier message and discarded this one unseen"),
        unanswered("", isWritten: false, "the message was not written"),
        AnswerRow(.apnsBinary, 0, silence, .accepted, source: .noAnswer, condition: writtenCondition, "the gateway reported no error within nmac.binary.presumedAcceptedMs: the protocol has no other sign of success"),
        AnswerRow(.apnsBinary, 0, "CertificateRefused", .stopApplication, source: .noAnswer, connection: .replace, application: .stop, failure: .softUnreachable, "the gateway does not accept the certificate: it has expired, was revoked, or is not the application's"),
        AnswerRow(.apnsBinary, 0, "Unregistered", .permanent, source: .feedback, token: .invalidSinceTimestamp, doubtful: false, failure: .hardUserUnknown, "the feedback service says that the app was removed from the device; a registration since then stands"),
    ]

    /// Messages that cannot be sent.
    private static let apnsBinaryChecks: [AnswerRow] = [
        check("PayloadTooLarge", failure: .softUnreachable, "the payload is larger than 2,048 bytes with this subscription's values: shorten the content, or use ios-http2"),
        check("FieldsUnreadable", failure: .softUndefined, "the target mapping's view cannot be read for this person; the reason says why: correct the person's row or the view"),
        check("InvalidPushType", failure: .softUndefined, "the binary protocol carries alert and background pushes only: send the delivery through an ios-http2 account"),
        check("InvalidTokenSize", token: .softError, doubtful: true, failure: .softRefused, "the push token is not 2 to 200 hexadecimal digits, as a frame can carry; the token is kept, and counted"),
        check("", failure: .softUndefined, "the message cannot be rendered from the content and this subscription's values: correct the delivery's content"),
    ]

    private static func packet(
        _ status: Int16,
        _ reason: String,
        _ outcomeClass: OutcomeClass,
        fault: AnswerFault? = nil,
        token: TokenRule = .none,
        application: ApplicationEffect = .none,
        doubtful: Bool? = nil,
        failure: MessageFailure? = nil,
        _ explanation: String
    ) -> AnswerRow {
        AnswerRow(
            .apnsBinary,
            status,
            reason,
            outcomeClass,
            fault: fault,
            token: token,
            connection: .replace,
            application: application,
            doubtful: doubtful,
            failure: failure,
            explanation
        )
    }

    private static func unanswered(_ reason: String, isWritten: Bool, _ explanation: String) -> AnswerRow {
        AnswerRow(
            .apnsBinary,
            0,
            reason,
            isWritten ? .ambiguous : .unprocessed,
            source: .noAnswer,
            condition: isWritten ? writtenCondition : "",
            connection: .replace,
            failure: .softUnreachable,
            isWritten
                ? explanation
                    + ": it may have been accepted, and is sent again or reported as unknown, as the delivery's ambiguity policy says"
                : explanation + ": it is sent again"
        )
    }

    private static func check(
        _ reason: String,
        token: TokenRule = .none,
        doubtful: Bool? = nil,
        failure: MessageFailure,
        _ explanation: String
    ) -> AnswerRow {
        AnswerRow(
            .apnsBinary,
            0,
            reason,
            .permanent,
            source: .check,
            token: token,
            doubtful: doubtful,
            failure: failure,
            explanation
        )
    }

    private static let apnsBinaryByStatus = Dictionary(
        apnsBinaryPackets.filter { !$0.reason.isEmpty }.map { ($0.status, $0) },
        uniquingKeysWith: { first, _ in first }
    )

    /// What an error packet means for the message that it names or, with status 10, for those after it.
    package static func apnsBinary(status: Int16) -> AnswerRow {
        apnsBinaryByStatus[status] ?? GatewayAnswers.apnsBinary.other(0, isGatewaysForm: true)
    }
}
