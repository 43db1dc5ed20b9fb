@preconcurrency import Dispatch
import Foundation
import OperatingSystem
import Synchronization

/// The size of a terminal.
package struct TerminalSize: Sendable, Hashable {
    /// The size to assume for a terminal that does not report one.
    package static let usual = TerminalSize(columns: 80, lines: 24)

    package let columns: Int
    package let lines: Int

    package init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
    }
}

/// An event of a terminal, for a full-screen program.
package enum TerminalEvent: Sendable, Hashable {
    case key(TerminalKey)
    /// The size may have changed, or the program resumes after a stop: everything has to be drawn again.
    case redraw
    /// The user wants to suspend the program (Ctrl-Z): ``TerminalScreen/suspend()``.
    case suspend
    /// A signal asks the program to end, or the terminal has gone.
    case end
}

/// A terminal as a screen that a program draws, and whose keys it reads one by one.
///
/// The terminal keeps its former modes and contents. ``leave()`` restores them; it may be called at any time, also
/// twice.
package final class TerminalScreen: Sendable {
    private static let input = STDIN_FILENO
    private static let output = STDOUT_FILENO
    /// Switch to the alternate screen, hide the cursor, and disable line wrapping.
    private static let taking = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// Termination, resize, and job control by the shell.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT, SIGTSTP]
    /// How long a background job waits before it looks for keys again, in microseconds.
    private static let pauseInBackground: UInt32 = 200_000

    /// The modes before; nil while the screen is not taken.
    private let before = Mutex<termios?>(nil)
    private let sources = Mutex<SignalSources?>(nil)

    /// Fails if standard input or output is not a terminal, or is one that cannot move its cursor.
    package init?(environment: [String: String]) {
        let kind = environment["TERM"] ?? ""
        guard isatty(Self.input) == 1, isatty(Self.output) == 1, !kind.isEmpty, kind != "dumb" else { return nil }
    }

    package var size: TerminalSize { Self.size ?? .usual }

    /// The size of the terminal on standard output; nil if it is not a terminal, or does not report a size.
    package static var size: TerminalSize? {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return TerminalSize(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// Takes the terminal: keys arrive one by one and are not echoed. Keys such as Ctrl-C and Ctrl-Z still send
    /// signals.
    package func take() {
        before.withLock { before in
            var now = termios()
            guard tcgetattr(Self.input, &now) == 0 else { return }
            // If the program was stopped from outside, the shell that resumed it may have set other modes: keep the first
            // ones.
            let kept = before ?? now
            before = kept
            var modes = kept
            cfmakeraw(&modes)
            modes.c_lflag |= tcflag_t(ISIG)
            Self.set(modes)
        }
        Self.write(Self.taking)
    }

    /// Takes the terminal again after a resume or a resize. In the background, the program waits until it is in the
    /// foreground.
    package func takeAgain() {
        if Self.isInBackground { suspend() } else { take() }
    }

    /// Restores the terminal.
    package func leave() {
        before.withLock { before in
            guard let modes = before else { return }
            before = nil
            Self.write(Self.leaving)
            Self.set(modes)
        }
    }

    /// Draws the screen: as many lines as it has, in one write, so that nothing flickers.
    ///
    /// The lines are written unchanged: the caller escapes text from other sources.
    package func draw(_ lines: [String]) {
        Self.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    /// Stops this process as Ctrl-Z does, with the terminal restored; returns when it resumes.
    package func suspend() {
        leave()
        // Raises the signal with its default action, on this thread. If no shell could resume the process, the kernel
        // does not stop it.
        var wanted = sigset_t()
        var mask = sigset_t()
        sigemptyset(&wanted)
        sigaddset(&wanted, SIGTSTP)
        let trapped = signal(SIGTSTP, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &wanted, &mask)
        raise(SIGTSTP)
        // A process resumed in the background has no screen.
        while Self.isInBackground {
            usleep(Self.pauseInBackground)
            raise(SIGTSTP)
        }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        signal(SIGTSTP, trapped)
        take()
    }

    /// The terminal's events from now on. Signals that would end this process are events, too.
    package func events() async -> AsyncStream<TerminalEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: TerminalEvent.self)
        var sources: [any DispatchSourceSignal] = []
        for number in Self.signals {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let event: TerminalEvent =
                switch number {
                case SIGWINCH, SIGCONT: .redraw
                case SIGTSTP: .suspend
                default: .end
                }
            // A signal that arrived before this would leave the terminal in our modes.
            await withCheckedContinuation { registered in
                source.setEventHandler { continuation.yield(event) }
                source.setRegistrationHandler { registered.resume() }
                source.activate()
            }
            sources.append(source)
        }
        // The sources deliver events only while they are retained.
        let held = SignalSources(all: sources)
        self.sources.withLock { $0 = held }
        do {
            try DetachedThread.start { Self.readKeys { continuation.yield($0) } }
        } catch {
            continuation.yield(.end)
        }
        return stream
    }

    private static func readKeys(_ yield: (TerminalEvent) -> Void) {
        var decoder = KeyDecoder()
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            let count = read(input, &buffer, 256)
            if count > 0 {
                for key in decoder.decode(Array(buffer.prefix(count))) { yield(.key(key)) }
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN || errno == EIO && isInBackground {
                usleep(pauseInBackground)
            } else {
                return yield(.end)
            }
        }
    }

    /// Whether the terminal's keys go to another job of the shell.
    private static var isInBackground: Bool {
        let job = tcgetpgrp(input)
        return job > 0 && job != getpgrp()
    }

    /// TCSANOW: pending output may never drain if nothing reads the terminal any more.
    private static func set(_ modes: termios) {
        var modes = modes
        while tcsetattr(input, TCSANOW, &modes) != 0, errno == EINTR {}
    }

    private static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}

/// Signal sources that are not touched again: Dispatch's are safe in any thread, but not marked Sendable.
private struct SignalSources: @unchecked Sendable {
    let all: [any DispatchSourceSignal]
}
