import Foundation
import Synchronization

/// A terminal whose person is a test.
final class PseudoTerminal: Sendable {
    /// Linux' TIOCSPTLCK and TIOCGPTN, which Swift does not see, as little as posix_openpt(3).
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// The end of the program that runs in it.
    let program: Int32
    private let person: Int32
    private let shown = Mutex<[UInt8]>([])

    /// A terminal of so many columns and lines.
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

    /// Changes its size; nobody is told.
    func resize(columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(person, UInt(TIOCSWINSZ), &size)
    }

    /// Presses keys.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(person, bytes, bytes.count)
    }

    /// All that it was sent so far, with what its program means it to obey.
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

    /// How it treats keys and output, as far as programs change it.
    var modes: [tcflag_t] {
        var modes = termios()
        guard tcgetattr(program, &modes) == 0 else { return [] }
        return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    }

    /// Whether keys come one by one.
    var isRaw: Bool { modes.last.map { $0 & tcflag_t(ICANON) == 0 } ?? false }
}
