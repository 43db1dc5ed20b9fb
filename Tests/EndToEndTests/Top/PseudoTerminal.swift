import Foundation
import Synchronization

/// A terminal operated by a test.
final class PseudoTerminal: Sendable {
    /// Linux's TIOCSPTLCK and TIOCGPTN, which are not visible in Swift; neither is posix_openpt(3).
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// The program's end of the terminal.
    let program: Int32
    private let person: Int32
    private let shown = Mutex<[UInt8]>([])

    /// Makes a terminal with this number of columns and lines.
    init(columns: UInt16 = 80, lines: UInt16 = 24) throws {
        person = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var lock: Int32 = 0
        var number: Int32 = 0
        guard person >= 0, ioctl(person, Self.setLock, &lock) == 0, ioctl(person, Self.getNumber, &number) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        guard program >= 0 else { throw CocoaError(.fileReadUnknown) }
        _ = fcntl(person, F_SETFL, O_NONBLOCK)
        resize(columns: columns, lines: lines)
    }

    deinit {
        close(program)
        close(person)
    }

    /// Changes its size without a signal.
    func resize(columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(person, UInt(TIOCSWINSZ), &size)
    }

    /// Presses keys.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(person, bytes, bytes.count)
    }

    /// All output so far, including escape sequences.
    var text: String {
        shown.withLock { shown in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(person, &buffer, 65_536)
                guard count > 0 else { break }
                shown += buffer.prefix(count)
            }
            return String(decoding: shown, as: UTF8.self)
        }
    }

    /// The last screen that was drawn.
    var screen: String {
        let text = text
        return text.range(of: "\u{1B}[H", options: .backwards).map { String(text[$0.upperBound...]) } ?? ""
    }

    /// The settings for keys and output that programs change.
    var modes: [tcflag_t] {
        var modes = termios()
        guard tcgetattr(program, &modes) == 0 else { return [] }
        return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }

    /// Whether keys are delivered one by one.
    var isRaw: Bool { modes.last.map { $0 & tcflag_t(ICANON) == 0 } ?? false }
}
