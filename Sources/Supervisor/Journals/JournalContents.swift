import PushCore

/// A journal as it was read.
struct JournalContents: Sendable {
    var header: JournalHeader
    /// What the records say, up to the damage if there is one.
    var summary: JournalSummary
    /// Where and why reading ended early; nil for a journal that is whole or merely torn at its end.
    var damage: JournalError?

    init(_ bytes: [UInt8]) throws {
        var decoder = try JournalDecoder(bytes)
        header = decoder.header
        summary = JournalSummary()
        while let record = decoder.next() { summary.add(record) }
        if decoder.isDamaged { damage = JournalError(code: .damaged(offset: decoder.validLength)) }
    }
}
