import PostgresClient
import PushCore

/// The messages of a part in sequence order, one row each, column by column.
public struct LoadedPart: Sendable {
    /// Sequence numbers within the delivery, ascending.
    public var sequences: [Int32] = []
    public var subscriptionIDs: [Int64] = []
    /// Push tokens, fresh at loading; null where the subscription is missing.
    public var tokens = ByteColumn()
    /// Tells the users apart, row by row: a hash of the user key; 0 for who has none.
    public var userHashes: [Int32] = []
    /// Whether a gateway has ever taken a message for the subscription, row by row; empty if it has for none.
    public var accepted: [Bool] = []
    /// Whether each may be sent.
    public var decisions: [LoadDecision] = []
    /// One column for each requested field, in the order of the request; null where no source has it.
    public var fields: [ByteColumn] = []
    /// Language tags of the subscriptions, null where the subscription is missing; empty unless they were asked for.
    public var locales = ByteColumn()
    /// The user keys of the subscriptions, where a view is read by them; empty otherwise.
    var userKeys = ByteColumn()
    /// Why the fields of a row could not be read, for the rows of which that is so; those of the view are null.
    public var unreadable: [Int: String] = [:]

    public init() {}

    /// A part that is to have so many messages.
    init(room: Int, for fields: MessageFields) {
        reserve(room, fields)
    }

    public var count: Int { sequences.count }
}

extension LoadedPart {
    mutating func reserve(_ rows: Int, _ wanted: MessageFields) {
        decisions.reserveCapacity(rows)
        userHashes.reserveCapacity(rows)
        // An APNs token has 64 characters, an FCM token about 160; a field is a word, a language tag two to five letters.
        tokens.reserve(rows: rows, bytes: rows * 64)
        fields = Array(repeating: ByteColumn(), count: wanted.names.count)
        for field in fields.indices { fields[field].reserve(rows: rows, bytes: rows * 12) }
        if wanted.withLocale { locales.reserve(rows: rows, bytes: rows * 5) }
    }

    /// The hash of the user key stands behind the token.
    mutating func append(
        _ rows: PostgresResult,
        _ row: Int,
        decision: Int,
        token: Int,
        firstField: Int,
        _ wanted: MessageFields
    ) throws {
        let code = try rows.int16(row, decision)
        guard let decision = LoadDecision(exclusion: code) else {
            throw StoreError(
                .unexpectedAnswer,
                "A subscription is excluded for reason \(code), which this program does not know."
            )
        }
        decisions.append(decision)
        tokens.append { rows.append(row, token, to: &$0) }
        userHashes.append(try rows.int32(row, token + 1))
        for field in fields.indices {
            fields[field].append { rows.append(row, firstField + field, to: &$0) }
        }
        var next = firstField + fields.count
        if wanted.withLocale {
            locales.append { rows.append(row, next, to: &$0) }
            next += 1
        }
        if wanted.isMapped { userKeys.append { rows.append(row, next, to: &$0) } }
    }

    mutating func appendMissing(_ wanted: MessageFields) {
        decisions.append(.missing)
        tokens.appendNull()
        userHashes.append(0)
        for field in fields.indices { fields[field].appendNull() }
        if wanted.withLocale { locales.appendNull() }
        if wanted.isMapped { userKeys.appendNull() }
    }
}

/// Whether a message of a part can still be sent, by the state of its subscription at loading.
public enum LoadDecision: Int16, Sendable, CaseIterable {
    case sendable = 0
    /// The subscription was disabled (a newer one took its token, or the gateway refused it).
    case disabled = 1
    case optedOut = 2
    /// The subscription is in quarantine or on the deny list.
    case quarantined = 3
    /// The subscription does not exist any more.
    case missing = 4
    /// Send it, and say so if it gets through: the subscription has soft errors, which that heals.
    case sendableWithErrors = 10

    /// By what ``sql(_:)`` says. What was made for a seed address (9) and is not sent to has lost its seed address, or its token's
    /// subscriber gets nothing any more.
    init?(exclusion code: Int16) { self.init(rawValue: code == Store.seedExclusion ? Self.disabled.rawValue : code) }

    public var isSendable: Bool { self == .sendable || self == .sendableWithErrors }

    /// The decision on a subscription `s`, by its generated `exclusion`, which does not tell errors apart.
    static func sql(_ fields: MessageFields) -> String {
        var target = ChunkTarget()
        target.isOneTimeCode = fields.areOneTimeCodes
        let own = target.exclusionSQL(of: "s")
        return
            "CASE WHEN s.quarantine_status = 1 AND \(own) = 0 THEN \(sendableWithErrors.rawValue)::smallint ELSE \(own) END"
    }

    /// The reason that a `not_applicable` outcome is stored with; empty when sendable.
    public var reason: String {
        switch self {
        case .sendable, .sendableWithErrors: ""
        case .disabled: "subscription_disabled"
        case .optedOut: "opted_out"
        case .quarantined: "quarantined"
        case .missing: "subscription_missing"
        }
    }
}
