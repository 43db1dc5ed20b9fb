import PostgresClient
import PushCore

/// The messages of a part in sequence order, one row each, column by column.
package struct LoadedPart: Sendable {
    /// Sequence numbers within the delivery, ascending.
    package var sequences: [Int32] = []
    package var subscriptionIDs: [Int64] = []
    /// Push tokens, as fresh as the load; null if the subscription is missing.
    package var tokens = ByteColumn()
    /// Distinguishes users, row by row: a hash of the user key; 0 without a user key.
    package var userHashes: [Int32] = []
    /// Whether a gateway has ever accepted a message for the subscription, row by row; empty if for none.
    package var accepted: [Bool] = []
    /// Whether each may be sent.
    package var decisions: [LoadDecision] = []
    /// One column for each requested field, in the order of the request; null if no source has it.
    package var fields: [ByteColumn] = []
    /// Language tags of the subscriptions, null if the subscription is missing; empty unless requested.
    package var locales = ByteColumn()
    /// The user keys of the subscriptions, if a view is read by them; empty otherwise.
    var userKeys = ByteColumn()
    /// Why the fields of a row could not be read, for such rows; their fields from the view are null.
    package var unreadable: [Int: String] = [:]

    package init() {}

    /// A part with room for this many messages.
    init(room: Int, for fields: MessageFields) {
        reserve(room, fields)
    }

    package var count: Int { sequences.count }
}

extension LoadedPart {
    mutating func reserve(_ rows: Int, _ wanted: MessageFields) {
        decisions.reserveCapacity(rows)
        userHashes.reserveCapacity(rows)
        // An APNs token has 64 characters, an FCM token about 160; a field is a word, a language tag two to five
        // letters.
        tokens.reserve(rows: rows, bytes: rows * 64)
        fields = Array(repeating: ByteColumn(), count: wanted.names.count)
        for field in fields.indices { fields[field].reserve(rows: rows, bytes: rows * 12) }
        if wanted.withLocale { locales.reserve(rows: rows, bytes: rows * 5) }
    }

    /// The hash of the user key comes after the token.
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

    /// The column of ``Store/sharedSQL(_:variables:)`` with the part. After it come the number and the subscription.
    static func partColumn(_ wanted: MessageFields) -> Int {
        3 + wanted.names.count + (wanted.withLocale ? 1 : 0) + (wanted.isMapped ? 1 : 0)
    }

    /// Appends a row of ``Store/sharedSQL(_:variables:)``.
    mutating func append(shared rows: PostgresResult, _ row: Int, _ wanted: MessageFields) throws {
        let part = Self.partColumn(wanted)
        sequences.append(try rows.int32(row, part + 1))
        subscriptionIDs.append(try rows.int64(row, part + 2))
        if rows.isNull(row, 1) {
            appendMissing(wanted)
        } else {
            try append(rows, row, decision: 0, token: 1, firstField: 3, wanted)
        }
    }

    /// Notes which of the messages, in the order of their subscriptions, go to people who opted out of the delivery's
    /// category.
    ///
    /// - Parameter ids: subscriptions that opted out, in order.
    mutating func optOut(_ ids: [Int64]) {
        var place = 0
        for id in ids {
            while place < subscriptionIDs.count, subscriptionIDs[place] < id { place += 1 }
            guard place < subscriptionIDs.count else { return }
            if subscriptionIDs[place] == id, decisions[place].isSendable { decisions[place] = .categoryOptedOut }
        }
    }

    /// The same messages with some of the fields that were read.
    func with(_ wanted: MessageFields, of read: MessageFields) -> LoadedPart {
        var part = self
        part.fields = wanted.names.compactMap { name in read.names.firstIndex(of: name).map { fields[$0] } }
        if !wanted.withLocale { part.locales = ByteColumn() }
        return part
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
