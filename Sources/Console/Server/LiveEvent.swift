import NIOCore

/// An event that is sent to a live page.
enum LiveEvent: Sendable, Hashable {
    /// Bytes in wire format, made once for all recipients.
    case made(ByteBuffer)
    /// The page itself has changed and must be reloaded.
    case changed
    /// Nothing new: a sign of life.
    case alive
    /// Why there will be no events, for the user.
    case refused(String)

    /// The live part, which replaces the one before.
    static func html(_ html: String) -> LiveEvent { .made(ByteBuffer(string: data(html))) }

    var bytes: ByteBuffer {
        if case .made(let bytes) = self { bytes } else { ByteBuffer(string: text) }
    }

    /// The event in wire format (WHATWG HTML, section 9.2).
    var text: String {
        switch self {
        case .made(let bytes): String(buffer: bytes)
        // Browsers ignore an event without data.
        case .changed: "event: changed\n" + Self.data("-")
        case .alive: ":\n\n"
        case .refused(let why): "event: refused\n" + Self.data(why)
        }
    }

    private static func data(_ text: String) -> String {
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        return lines.map { "data: \($0)\n" }.joined() + "\n"
    }
}
