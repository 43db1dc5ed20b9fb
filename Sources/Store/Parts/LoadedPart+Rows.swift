import PostgresClient
import PushCore

extension LoadedPart {
    mutating func reserve(_ rows: Int, _ wanted: MessageFields) {
        verdicts.reserveCapacity(rows)
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
        verdict: Int,
        token: Int,
        firstField: Int,
        _ wanted: MessageFields
    ) throws {
        let code = try rows.int16(row, verdict)
        guard let verdict = LoadVerdict(rawValue: code) else {
            throw StoreError(
                .unexpectedAnswer,
                "A subscription is excluded for reason \(code), which this program does not know."
            )
        }
        verdicts.append(verdict)
        tokens.append { rows.append(row, token, to: &$0) }
        userHashes.append(try rows.int32(row, token + 1))
        for field in fields.indices {
            fields[field].append { rows.append(row, firstField + field, to: &$0) }
        }
        if wanted.withLocale { locales.append { rows.append(row, firstField + fields.count, to: &$0) } }
    }

    /// A message whose fields cannot be read, with the verdict and the token that can.
    mutating func appendUnreadable(_ rows: PostgresResult, reason: String, _ wanted: MessageFields) throws {
        guard rows.rowCount > 0, !rows.isNull(0, 1) else { return appendMissing(wanted) }
        let bare = MessageFields(names: [])
        unreadable[verdicts.count] = reason
        let (columns, languages) = (fields, locales)
        fields = []
        try append(rows, 0, verdict: 0, token: 1, firstField: 3, bare)
        (fields, locales) = (columns, languages)
        for field in fields.indices { fields[field].appendNull() }
        if wanted.withLocale { locales.appendNull() }
    }

    mutating func appendMissing(_ wanted: MessageFields) {
        verdicts.append(.missing)
        tokens.appendNull()
        userHashes.append(0)
        for field in fields.indices { fields[field].appendNull() }
        if wanted.withLocale { locales.appendNull() }
    }
}
