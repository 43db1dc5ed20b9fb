/// Reads the tuples of the feedback service out of pieces of any size: time (4 bytes), length of the token (2), token.
struct FeedbackTupleDecoder: Sendable {
    /// A length that no token has: what follows cannot be read.
    struct Malformed: Error, Hashable {
        var tokenLength: Int
    }

    private static let head = 6

    /// The beginning of the next tuple: 106 bytes at most.
    private var rest: [UInt8] = []

    /// The bytes of a tuple that did not come to its end.
    var torn: Int { rest.count }

    /// Appends the tuples that are complete with these bytes.
    mutating func read(_ piece: some Collection<UInt8>, into entries: inout [APNsFeedbackEntry]) throws(Malformed) {
        var bytes = rest
        bytes.append(contentsOf: piece)
        var start = 0
        while bytes.count - start >= Self.head {
            let time = bytes[start..<start + 4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let length = Int(bytes[start + 4]) << 8 | Int(bytes[start + 5])
            guard (1...BinaryToken.mostBytes).contains(length) else {
                rest = []
                throw Malformed(tokenLength: length)
            }
            let end = start + Self.head + length
            guard end <= bytes.count else { break }
            let token = BinaryToken.text(bytes[start + Self.head..<end])
            entries.append(APNsFeedbackEntry(token: token, since: time))
            start = end
        }
        rest = Array(bytes[start...])
    }
}
