/// Reads a proxy's answer to CONNECT as it comes.
struct TunnelAnswer {
    /// What is known of the answer.
    enum State: Equatable {
        /// Its end has not come.
        case incomplete
        /// The tunnel is there; these bytes came through it already.
        case open(rest: [UInt8])
        /// There is no tunnel, for this reason.
        case refused(String)
    }

    /// A proxy's answer has some hundred bytes of header; what has more is no answer of a proxy.
    private static let mostBytes = 16_384
    /// What of a reason phrase is shown.
    private static let longestPhrase = 100

    private var bytes: [UInt8] = []

    /// Takes more of the answer.
    mutating func append(_ more: some Sequence<UInt8>) -> State {
        bytes.append(contentsOf: more)
        guard let end = endOfHeader else {
            return bytes.count > Self.mostBytes ? .refused("its answer has no end") : .incomplete
        }
        // "HTTP/1.1 200 Connection established"
        let line = bytes.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = line.split(separator: 0x20, maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), (100..<600).contains(status)
        else { return .refused("what listens there is no HTTP proxy") }
        guard (200..<300).contains(status) else {
            let phrase = words.count > 2 ? Self.printable(words[2]) : ""
            return .refused(phrase.isEmpty ? "\(status)" : "\(status) \(phrase)")
        }
        return .open(rest: Array(bytes[end...]))
    }

    /// Where the bytes after the empty line begin; a bare line feed ends a line, too (RFC 9112 section 2.2).
    private var endOfHeader: Int? {
        var lineLength = 0
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 0x0A where lineLength == 0: return index + 1
            case 0x0A: lineLength = 0
            case 0x0D: break
            default: lineLength += 1
            }
        }
        return nil
    }

    private static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(longestPhrase).map(
                Character.init
            )
        )
    }
}
