import PushCore

/// What every answer of every gateway means, as data.
///
/// Sources: Apple, "Handling notification responses from APNs"; Firebase, "ErrorCode" and "Best practices when sending FCM
/// messages at scale"; Adobe, "Delivery failures" (push error types) for the failure types and reasons. Where sources
/// disagree, the row is the one that loses no token and sends nothing twice, and its explanation says so. Rows without a
/// reason are for reasons that are not in the table: these are kept word for word and classed by status.
public enum AnswerTable {
    /// All rows, those of a gateway together and by status.
    public static let rows: [AnswerRow] = apnsRows + apnsBinaryRows + fcmV1Rows + fcmLegacyRows

    struct Key: Hashable {
        var gateway: AnswerGateway
        var source: AnswerRow.Source
        var status: Int16
        var reason: String
        var condition: String
    }

    private static let index: [Key: AnswerRow] = {
        var index: [Key: AnswerRow] = [:]
        for row in rows {
            let key = Key(
                gateway: row.gateway,
                source: row.source,
                status: row.status,
                reason: row.reason,
                condition: row.condition
            )
            index[key] = index[key] ?? row
        }
        return index
    }()

    /// The row of exactly this answer.
    static func row(
        _ gateway: AnswerGateway,
        _ source: AnswerRow.Source,
        _ status: Int16,
        _ reason: String,
        _ condition: String = ""
    ) -> AnswerRow? {
        index[Key(gateway: gateway, source: source, status: status, reason: reason, condition: condition)]
    }

    /// The row for a reason that is not in the table: by status, then by the status' hundreds, then for anything.
    ///
    /// - Parameter isGatewaysForm: whether the body is an error in the gateway's own JSON. Without one a refusal says nothing about the
    ///   message, nor about credential or address: a proxy or a load balancer has given it. Only of its own failures (5xx, 408, 429) a
    ///   gateway may tell without words. Legacy FCM says in pages what is wrong with a key or an address.
    static func other(_ gateway: AnswerGateway, _ status: Int16, isGatewaysForm: Bool) -> AnswerRow {
        // The row of 200 is success, and stands for itself alone.
        let hundreds = status / 100 * 100
        let known =
            row(gateway, .response, status, "") ?? (hundreds == 200 ? nil : row(gateway, .response, hundreds, ""))
        guard let known else { return foreign(gateway) }
        let needsNoWords =
            known.outcomeClass == .accepted
            || known.outcomeClass == .retry && (known.fault == .gateway || known.fault == .server)
            || gateway == .fcmLegacy && known.fault == .application
        return isGatewaysForm || needsNoWords ? known : foreign(gateway)
    }

    /// The row for what is no answer of a gateway at all.
    static func foreign(_ gateway: AnswerGateway) -> AnswerRow {
        row(gateway, .response, 0, "")
            ?? AnswerRow(gateway, 0, "", .retry, fault: .foreign, failure: .ignoredRefused, foreignExplanation)
    }
}

/// Finding the row of an answer.
extension AnswerTable {
    /// What an APNs response other than 200 means.
    ///
    /// - Parameter isSuffixed: the message's topic is not the plain bundle id, but has its push type's suffix.
    public static func apns(status: Int16, reason: String, isSuffixed: Bool = false) -> AnswerRow {
        if isSuffixed, let row = row(.apnsHTTP2, .response, status, reason, suffixedTopicCondition) { return row }
        return reason.isEmpty
            ? other(.apnsHTTP2, status, isGatewaysForm: false)
            : row(.apnsHTTP2, .response, status, reason) ?? other(.apnsHTTP2, status, isGatewaysForm: true)
    }

    /// What a GOAWAY of APNs means; the reason is that of its JSON debug data, or the debug data itself.
    public static func apnsGoAway(reason: String) -> AnswerRow {
        row(.apnsHTTP2, .goAway, 0, reason) ?? row(.apnsHTTP2, .goAway, 0, "") ?? foreign(.apnsHTTP2)
    }

    /// What an FCM HTTP v1 response other than 200 means.
    ///
    /// - Parameters:
    ///   - reason: the FCM error code, else the reason of `google.rpc.ErrorInfo`, else the status text.
    ///   - tokenAtFault: whether the error names the field `message.token`.
    public static func fcmV1(status: Int16, reason: String, tokenAtFault: Bool = false) -> AnswerRow {
        if tokenAtFault, let row = row(.fcmV1, .response, status, reason, tokenAtFaultCondition) { return row }
        return reason.isEmpty
            ? other(.fcmV1, status, isGatewaysForm: false)
            : row(.fcmV1, .response, status, reason) ?? other(.fcmV1, status, isGatewaysForm: true)
    }

    /// What a GOAWAY of FCM means; the reason is its debug data.
    public static func fcmV1GoAway(reason: String) -> AnswerRow {
        row(.fcmV1, .goAway, 0, reason) ?? row(.fcmV1, .goAway, 0, "") ?? foreign(.fcmV1)
    }

    /// What it means that a message ended without an answer.
    ///
    /// - Parameters:
    ///   - reason: the recorded reason; the word before its colon is looked up.
    ///   - isWritten: the message may have reached the gateway.
    public static func noAnswer(_ gateway: AnswerGateway, reason: String, isWritten: Bool) -> AnswerRow {
        let condition = isWritten ? writtenCondition : ""
        let word = String(reason.prefix { $0 != ":" })
        return row(gateway, .noAnswer, 0, word, condition) ?? row(gateway, .noAnswer, 0, "", condition)
            ?? foreign(gateway)
    }

    /// What it means that a message is not fit to be sent at all.
    ///
    /// - Parameter reason: the recorded reason; the word before its colon is looked up.
    public static func check(_ gateway: AnswerGateway, reason: String) -> AnswerRow {
        let word = reason.prefix { $0 != ":" }
        return row(gateway, .check, 0, String(word)) ?? row(gateway, .check, 0, "") ?? foreign(gateway)
    }

    /// What it means that the endpoint of access tokens gave none.
    ///
    /// - Parameters:
    ///   - status: the HTTP status; 0 for no answer.
    ///   - error: its OAuth 2 error, empty if it gave none.
    public static func tokenEndpoint(_ gateway: AnswerGateway, status: Int, error: String) -> AnswerRow {
        if let row = row(gateway, .tokenEndpoint, 0, error), !error.isEmpty { return row }
        let status = Int16(clamping: status)
        return row(gateway, .tokenEndpoint, status, "") ?? row(gateway, .tokenEndpoint, status / 100 * 100, "")
            ?? row(gateway, .tokenEndpoint, 0, "") ?? foreign(gateway)
    }

    /// The condition of the rows for messages that may have reached the gateway.
    static let writtenCondition = "written"
}

extension AnswerTable {
    /// What ends a message on an HTTP/2 connection without an answer.
    ///
    /// Whether it may be sent again for certain is RFC 9113 section 8.7: a stream that was refused, or lies above a GOAWAY's
    /// last stream id, was not processed; all else that was written may have been.
    static func http2Unanswered(_ gateway: AnswerGateway) -> [AnswerRow] {
        [
            row(gateway, "ConnectionLost", isWritten: true, "the connection was lost before the answer came"),
            row(gateway, "Timeout", isWritten: true, "no answer came in time"),
            row(
                gateway,
                NoAnswerReason.malformed,
                isWritten: true,
                "the answer broke HTTP/2's rules, so the stream was reset here; the reason says how"
            ),
            row(
                gateway,
                "",
                isWritten: true,
                "the stream was reset by the gateway or by a proxy before the answer came"
            ),
            row(gateway, "REFUSED_STREAM", isWritten: false, "the gateway did not look at the message"),
            row(
                gateway,
                "GOAWAY",
                isWritten: false,
                "the gateway closed the connection before it looked at the message"
            ),
            row(
                gateway,
                NoAnswerReason.notWritten,
                isWritten: false,
                "the connection was lost before the message was written"
            ),
            row(
                gateway,
                "",
                isWritten: false,
                "the message was taken back before it was written, or the stream ended before any of its body was"
            ),
        ]
    }

    /// A 200 that the gateway has not given: something in its place may have thrown the message away.
    static func malformed(_ gateway: AnswerGateway, _ explanation: String) -> AnswerRow {
        AnswerRow(
            gateway,
            200,
            NoAnswerReason.malformed,
            .ambiguous,
            failure: .ignoredUnreachable,
            explanation
                + "; check that the address is the gateway's and no proxy answers for it. The message is sent again or reported as "
                + "unknown, as the delivery says"
        )
    }

    /// The meaning of an answer with status 200 that the gateway has not given.
    static func malformed(_ gateway: AnswerGateway) -> AnswerRow {
        row(gateway, .response, 200, NoAnswerReason.malformed) ?? foreign(gateway)
    }

    private static func row(
        _ gateway: AnswerGateway,
        _ reason: String,
        isWritten: Bool,
        _ explanation: String
    ) -> AnswerRow {
        AnswerRow(
            gateway,
            0,
            reason,
            isWritten ? .ambiguous : .unprocessed,
            source: .noAnswer,
            condition: isWritten ? writtenCondition : "",
            failure: .ignoredUnreachable,
            isWritten
                ? explanation
                    + ": it may have been taken, and is sent again or reported as unknown, as the delivery says"
                : explanation + ": it is sent again"
        )
    }
}

/// Reasons that come from outside, made fit to be stored.
enum ReasonText {
    /// A reason longer than this is cut, in bytes; the longest that a gateway documents has 31.
    static let maximumBytes = 200

    /// The text without NUL bytes, which PostgreSQL does not store, without what would move a terminal's cursor, and cut to a storable
    /// length.
    static func storable(_ text: String) -> String {
        if text.utf8.count <= maximumBytes, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        var result = ""
        for character in text where character != "\0" {
            let shown = shown(character)
            if result.utf8.count + shown.utf8.count > maximumBytes { break }
            result.append(shown)
        }
        return result
    }

    /// Control characters as their pictures; in a log, ESC would begin a sequence that a terminal obeys.
    private static func shown(_ character: Character) -> Character {
        guard let scalar = character.unicodeScalars.first, scalar.properties.generalCategory == .control else {
            return character
        }
        // U+2400 is the picture of NUL, and those of the others follow; DEL has its own; those from U+0080 on have none.
        if scalar.value < 0x20 { return Character(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}") }
        return scalar.value == 0x7F ? "\u{2421}" : "\u{FFFD}"
    }
}
