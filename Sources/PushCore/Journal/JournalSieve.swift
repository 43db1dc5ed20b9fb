/// Selects the records of some parts from a journal whose bytes arrive in pieces.
///
/// Records are copied unchanged, with their checksums, so that a reader can still verify them.
package struct JournalSieve {
    private let keeps: (_ part: Int64, _ token: Int64) -> Bool
    /// The bytes of an incomplete record.
    private var pending: [UInt8] = []

    /// Makes a sieve.
    ///
    /// - Parameter keeps: whether the records of a part under a fencing token are kept.
    package init(keeping keeps: @escaping (_ part: Int64, _ token: Int64) -> Bool) {
        self.keeps = keeps
    }

    /// Whether the bytes taken so far end with a whole record.
    package var isAtEnd: Bool { pending.isEmpty }

    /// Takes the next bytes after the header and returns the bytes of the kept records.
    ///
    /// - Throws: `JournalError` if the bytes are not a record.
    package mutating func take(_ bytes: [UInt8]) throws(JournalError) -> [UInt8] {
        pending += bytes
        var kept: [UInt8] = []
        var start = 0
        while true {
            var reader = JournalReader(bytes: pending, range: start..<pending.count)
            guard let length: UInt32 = reader.number(), let _: UInt32 = reader.number() else { break }
            guard length >= Self.minPayloadLength, length <= JournalFormat.maxPayloadLength else {
                throw JournalError(code: .damaged(offset: start))
            }
            guard Int(length) <= reader.remaining, let _: UInt8 = reader.number(), let part: Int64 = reader.number(),
                let token: Int64 = reader.number()
            else { break }
            let end = start + JournalFormat.frameLength + Int(length)
            if keeps(part, token) { kept += pending[start..<end] }
            start = end
        }
        pending.removeFirst(start)
        return kept
    }

    /// The length of kind, part and token, with which each record begins.
    private static let minPayloadLength = 17
}
