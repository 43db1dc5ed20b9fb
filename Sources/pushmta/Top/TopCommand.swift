import Administration
import ArgumentParser
import Foundation
import PostgresClient
import Store

/// `pushmta top`: hosts, children, applications and deliveries on a live screen.
struct TopCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch hosts, children, applications, deliveries and alarms live.",
        discussion: """
            A screen with rates and sparklines. Keys: q quits, ? shows all keys; Tab or 0 to 5 selects what is shown, \
            s the order of rows, / a text that rows must contain; p freezes the figures. With --once, or if standard \
            output is not a terminal, one reading is printed as text, with all rows. The rights of pushmta_monitoring \
            suffice.

            If the database is unreachable, the screen says so and resumes on its own. Counting large tables costs the \
            database time: each table is read at every interval, but less often if all reads together would take more \
            than a hundredth of one processor's time. Only the 100 deliveries that are served first are shown. \
            NO_COLOR disables colours. Exit status 0 after q, 130 after a signal.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Seconds between two readings, from 0.2 to 3600.")
    var interval = 1.0

    @Flag(help: "Print one reading as text.")
    var once = false

    func validate() throws {
        guard (0.2...3_600).contains(interval) else {
            throw ValidationError("--interval is \(interval): give seconds from 0.2 to 3600.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let environment = ProcessInfo.processInfo.environment
        let interval = Duration.milliseconds(Int64(interval * 1_000))
        let (events, continuation) = AsyncStream.makeStream(of: TopLoop.Event.self)
        let store = try await StoreSession.open(loaded.values) { event in
            guard case .attemptFailed(let error, attempt: _, nextDelay: _) = event else { return }
            continuation.yield(.state(.away(CommandFailure.words(of: error))))
        }
        let reader = TopReader(store: store)
        guard !once, let screen = TerminalScreen(environment: environment) else {
            let size = TerminalSize(columns: TerminalScreen.size?.columns ?? StatusText.width + 1, lines: .max)
            var state = TopState(size: size, interval: interval)
            _ = state.handle(.figures(try await reader.read(TopPart.allCases)), at: .now)
            StandardOutput.line(TopFrame(state).text(at: .now).joined(separator: "\n"))
            return await store.close()
        }
        let hasColours = (environment["NO_COLOR"] ?? "").isEmpty
        let loop = TopLoop(screen: screen, reader: reader, events: continuation, hasColours: hasColours)
        let isQuit = await loop.run(TopState(size: screen.size, interval: interval), events)
        // A read under way is abandoned: a silent server must not hold up the user.
        guard isQuit else { throw ExitCode(CommandFailure.interruptedStatus) }
    }
}

/// Performs the actions of the state of `pushmta top` until it ends.
struct TopLoop: Sendable {
    /// The events that reach the loop.
    enum Event: Sendable {
        case state(TopState.Event)
        case terminal(TerminalEvent)
    }

    let screen: TerminalScreen
    let reader: TopReader
    let events: AsyncStream<Event>.Continuation
    let hasColours: Bool

    /// Runs until the user or a signal ends it, and restores the terminal.
    ///
    /// - Returns: Whether a key ended it, rather than a signal.
    func run(_ begin: TopState, _ stream: AsyncStream<Event>) async -> Bool {
        var state = begin
        let interval = begin.interval
        // Before the terminal is taken: a signal must find someone to restore it.
        let terminal = await screen.events()
        screen.take()
        let keys = Task { for await event in terminal { events.yield(.terminal(event)) } }
        let clock = Task {
            while !Task.isCancelled {
                events.yield(.state(.tick))
                try? await Task.sleep(for: interval)
            }
        }
        defer {
            screen.leave()
            keys.cancel()
            clock.cancel()
        }
        for await event in stream {
            let told: TopState.Event
            switch event {
            case .state(let event): told = event
            case .terminal(.key(let key)): told = .key(key)
            case .terminal(.redraw):
                screen.takeAgain()
                told = .resize(screen.size)
            case .terminal(.suspend):
                screen.suspend()
                told = .resize(screen.size)
            case .terminal(.end): return false
            }
            for action in state.handle(told, at: .now) {
                switch action {
                case .read(let parts): read(parts)
                case .draw: screen.draw(TopFrame(state).lines(at: .now).map(painted))
                case .end: return true
                }
            }
        }
        return false
    }

    private func read(_ parts: [TopPart]) {
        Task {
            do {
                events.yield(.state(.figures(try await reader.read(parts))))
            } catch {
                events.yield(.state(.failed(CommandFailure.words(of: error))))
            }
        }
    }

    /// A line with the escape sequences of its style (ECMA-48, SGR). On a screen without colours, bars are reversed,
    /// too.
    private func painted(_ line: TopLine) -> String {
        let codes: String
        switch line.style {
        case .plain: return line.text
        case .bar: codes = "7"
        case .head: codes = "1"
        case .critical: codes = hasColours ? "1;31" : "1"
        case .warning: codes = hasColours ? "33" : ""
        case .note: codes = hasColours ? "2" : ""
        }
        return codes.isEmpty ? line.text : "\u{1B}[\(codes)m\(line.text)\u{1B}[0m"
    }
}
