#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The blocks of a PEM file (RFC 7468), read as OpenSSL reads them: with a byte order mark, blank lines, blanks around
/// lines, and bag attributes or other text before, between and after them.
struct PEMFile {
    /// The part between BEGIN and END.
    struct Block {
        /// Its label, as in `-----BEGIN PRIVATE KEY-----`.
        let label: String
        /// Its bytes; empty if they are not base64.
        let der: [UInt8]
        /// Whether its header marks it as encrypted (RFC 1421).
        let isEncrypted: Bool

        var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }
        var isCertificate: Bool { label.hasSuffix("CERTIFICATE") }
    }

    /// The complete blocks, in the file's order.
    private(set) var blocks: [Block] = []

    private static let begin = "-----BEGIN "
    private static let end = "-----END "
    private static let dashes = "-----"

    init(_ bytes: [UInt8]) {
        var label: String?
        var base64 = ""
        var isEncrypted = false
        for line in Self.lines(bytes) {
            guard let open = label else {
                if line.hasPrefix(Self.begin), line.hasSuffix(Self.dashes) {
                    label = String(line.dropFirst(Self.begin.count).dropLast(Self.dashes.count))
                    base64 = ""
                    isEncrypted = false
                }
                continue
            }
            if line.hasPrefix(Self.end) {
                let der = Data(base64Encoded: base64).map(Array.init) ?? []
                blocks.append(Block(label: open, der: der, isEncrypted: isEncrypted))
                label = nil
            } else if line.contains(":") {
                isEncrypted = isEncrypted || line.hasPrefix("Proc-Type") && line.hasSuffix("ENCRYPTED")
            } else {
                base64 += line.filter { !$0.isWhitespace }
            }
        }
    }

    /// The lines, trimmed. A byte order mark is removed separately because nothing treats it as white space.
    private static func lines(_ bytes: [UInt8]) -> [Substring] {
        String(decoding: ByteOrderMark.dropped(bytes), as: UTF8.self)
            .split { $0.isNewline }
            .map { line in
                var line = line
                while line.first?.isWhitespace == true { line.removeFirst() }
                while line.last?.isWhitespace == true { line.removeLast() }
                return line
            }
    }
}

/// The UTF-8 byte order mark that Windows editors put before a text.
enum ByteOrderMark {
    private static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The bytes after the mark; all bytes if there is none.
    static func dropped(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: utf8) ? Array(bytes.dropFirst(utf8.count)) : bytes
    }
}
