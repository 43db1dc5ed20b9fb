@preconcurrency import Dispatch
import Foundation
import OperatingSystem
import Synchronization

/// The columns and lines of a terminal.
package struct TerminalSize: Sendable, Hashable {
    /// What a terminal has that does not say.
    package static let usual = TerminalSize(columns: 80, lines: 24)

    package let columns: Int
    package let lines: Int

    package init(columns: Int, lines: Int) {
        self.columns = columns
        self.lines = lines
    }
}

/// What a terminal tells a program that shows a whole screen.
package enum TerminalEvent: Sendable, Hashable {
    case key(TerminalKey)
    /// It may have another size, or the program goes on after it was stopped: everything has to be drawn again.
    case redraw
    /// The person wants the program to stand still for a while (Ctrl-Z): ``TerminalScreen/suspend()``.
    case suspend
    /// A signal is to end the program, or the terminal is gone.
    case end
}

/// The terminal as one screen that a program draws, and whose keys it hears one by one.
///
/// The terminal keeps its modes and what it showed before: ``leave()`` brings them back, and is right at any moment, also twice.
package final class TerminalScreen: Sendable {
    private static let input = STDIN_FILENO
    private static let output = STDOUT_FILENO
    /// Another screen, no cursor, and lines that are not continued on the next one.
    private static let taking = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    private static let leaving = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"
    /// Ends, other sizes, and what the shell does with a job.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT, SIGTSTP]
    /// How long a background job waits before it looks for keys again.
    private static let pauseInBackground: UInt32 = 200_000

    /// The modes before; nil while the terminal is not taken.
    private let before = Mutex<termios?>(nil)
    private let sources = Mutex<SignalSources?>(nil)

    /// The screen; nil where standard input and output are no terminals, or one that cannot move its cursor.
    package init?(environment: [String: String]) {
        let kind = environment["TERM"] ?? ""
        guard isatty(Self.input) == 1, isatty(Self.output) == 1, !kind.isEmpty, kind != "dumb" else { return nil }
    }

    package var size: TerminalSize { Self.size ?? .usual }

    /// The size of the terminal that standard output is; nil where it is none, or does not say.
    package static var size: TerminalSize? {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return TerminalSize(columns: Int(size.ws_col), lines: Int(size.ws_row))
    }

    /// Takes the terminal: keys come one by one and are not shown. Signals of keys (Ctrl-C, Ctrl-Z) stay signals.
    package func take() {
        before.withLock { before in
            var now = termios()
            guard tcgetattr(Self.input, &now) == 0 else { return }
            // Who continues a program that was stopped from outside may have set its own.
            let kept = before ?? now
            before = kept
            var modes = kept
            cfmakeraw(&modes)
            modes.c_lflag |= tcflag_t(ISIG)
            Self.set(modes)
        }
        Self.write(Self.taking)
    }

    /// The same when the program goes on, or the screen has another size: in the background it stands still until it has one.
    package func takeAgain() {
        if Self.isInBackground { suspend() } else { take() }
    }

    /// Gives the terminal back as it was.
    package func leave() {
        before.withLock { before in
            guard let modes = before else { return }
            before = nil
            Self.write(Self.leaving)
            Self.set(modes)
        }
    }

    /// Draws the screen: so many lines as it has, in one piece, so that nothing flickers.
    ///
    /// The lines go out as they are: what others have said is escaped by the one who makes them.
    package func draw(_ lines: [String]) {
        Self.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    /// Stops this process as Ctrl-Z does, with the terminal as it was before; returns when it goes on.
    package func suspend() {
        leave()
        // By the signal's own action, on this thread: where nobody could let it go on, the kernel does not stop it.
        var wanted = sigset_t()
        var mask = sigset_t()
        sigemptyset(&wanted)
        sigaddset(&wanted, SIGTSTP)
        let trapped = signal(SIGTSTP, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &wanted, &mask)
        raise(SIGTSTP)
        // Whoever lets it go on in the background has no screen for it.
        while Self.isInBackground {
            usleep(Self.pauseInBackground)
            raise(SIGTSTP)
        }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        signal(SIGTSTP, trapped)
        take()
    }

    /// What the terminal tells, from now on. Signals that would end this process are events, too.
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
            // A signal that comes before that would leave the terminal as we have set it.
            await withCheckedContinuation { registered in
                source.setEventHandler { continuation.yield(event) }
                source.setRegistrationHandler { registered.resume() }
                source.activate()
            }
            sources.append(source)
        }
        // They tell as long as somebody holds them.
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

    /// Whether the keys of the terminal go to another job of the shell.
    private static var isInBackground: Bool {
        let job = tcgetpgrp(input)
        return job > 0 && job != getpgrp()
    }

    /// At once: what is drawn may never go out where nobody reads the terminal any more.
    private static func set(_ modes: termios) {
        var modes = modes
        while tcsetattr(input, TCSANOW, &modes) != 0, errno == EINTR {}
    }

    private static func write(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}

/// Sources of signals, which nobody touches any more: Dispatch's are good in any thread, but do not say so.
private struct SignalSources: @unchecked Sendable {
    let all: [any DispatchSourceSignal]
}
