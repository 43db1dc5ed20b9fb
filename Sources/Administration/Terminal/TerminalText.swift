import Foundation
import PushCore

/// Makes text from other sources safe for a terminal. Names, reasons and the output of processes must not move its
/// cursor, clear it, or pretend to be our lines.
package enum TerminalText {
    /// Returns one line. Control characters and line ends are escaped as in JSON, such as `\u001b`.
    package static func line(_ text: String) -> String {
        escaped(text) { $0.isControl || $0.isLineSeparator }
    }

    /// The same, but line ends and tabs are kept.
    package static func lines(_ text: String) -> String {
        escaped(text) { $0.isControl && $0 != "\n" && $0 != "\t" }
    }

    /// Cuts a text to at most `limit` characters. If something was cut off, the last one is an ellipsis.
    package static func cut(_ text: String, to limit: Int) -> String {
        // Counting bytes needs no scan of the text, and there are never fewer bytes than characters.
        guard text.utf8.count > limit, text.count > limit else { return text }
        return text.prefix(max(limit - 1, 0)) + "…"
    }

    /// A control character as a JSON escape.
    package static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default:
            let hex = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
        }
    }

    private static func escaped(_ text: String, _ isUnfit: (Unicode.Scalar) -> Bool) -> String {
        guard mayHaveUnfit(text), text.unicodeScalars.contains(where: isUnfit) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isUnfit(scalar) { shown += escape(scalar) } else { shown.unicodeScalars.append(scalar) }
        }
        return shown
    }

    /// Whether a text needs a closer look. Its bytes tell at once: those below the blank, DEL, and the lead bytes of
    /// U+0080 and U+2000 upwards in UTF-8. Tables of megabytes pass through here.
    private static func mayHaveUnfit(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }
    }
}
