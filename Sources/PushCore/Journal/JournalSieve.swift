/// Takes the records of some parts out of a journal whose bytes come in pieces.
///
/// A record is copied as it stands, with its checksum: whoever reads it judges it as before.
public struct JournalSieve {
    private let keeps: (_ part: Int64, _ token: Int64) -> Bool
    /// The bytes of a record that is not whole yet.
    private var pending: [UInt8] = []

    /// Makes a sieve.
    ///
    /// - Parameter keeps: whether the records of a part under a fencing token are kept.
    public init(keeping keeps: @escaping (_ part: Int64, _ token: Int64) -> Bool) {
        self.keeps = keeps
    }

    /// Whether the bytes taken so far end with a whole record.
    public var isAtEnd: Bool { pending.isEmpty }

    /// Takes the next bytes after the header, and returns those of the records that are kept.
    ///
    /// - Throws: `JournalError` at bytes that are no record.
    public mutating func take(_ bytes: [UInt8]) throws(JournalError) -> [UInt8] {
        pending += bytes
        var kept: [UInt8] = []
        var start = 0
        while true {
            var reader = JournalReader(bytes: pending, range: start..<pending.count)
            guard let length: UInt32 = reader.number(), let _: UInt32 = reader.number() else { break }
            guard length >= Self.shortestPayload, length <= JournalFormat.longestPayload else {
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

    /// Kind, part and token, which each record begins with.
    private static let shortestPayload = 17
}
