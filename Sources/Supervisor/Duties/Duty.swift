import Logging
import PushCore
import Synchronization

/// Something that a supervisor does again and again for as long as it runs.
///
/// No error ends it: the database may be away for hours, and whatever one round could not do, a later one can.
struct Duty: Sendable {
    /// What the log calls it.
    let name: String
    /// Makes it begin its next round at once.
    let bell: Bell
    /// The longest pause after an error.
    let longestPause: Duration
    let logger: Logger
    /// One round; returns the time until the next.
    let round: @Sendable () async throws -> Duration
    /// Told after each round whether it could be done.
    var finished: @Sendable (_ succeeded: Bool) -> Void = { _ in }

    /// Does it until the task is cancelled.
    func run() async {
        var pause = BackOff.database(longest: longestPause)
        while !Task.isCancelled {
            do {
                let time = try await round()
                if pause.failures > 0 { logger.notice("\(name) works again") }
                pause.reset()
                finished(true)
                await bell.wait(atMost: time)
            } catch {
                if Task.isCancelled { return }
                finished(false)
                let time = pause.next()
                logger.warning("\(name) failed and is tried again in \(time.milliseconds) ms: \(error)")
                try? await Task.sleep(for: time)
            }
        }
    }
}

/// Lets one waiter sleep for a time or until it is rung, whichever comes first; a ring nobody waited for is remembered.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Wakes the waiter, or the next one if nobody waits now.
    func ring() {
        let waiter = state.withLock { state in
            state.isRung = state.waiter == nil
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits until the bell rings, at most so long; returns at once when the task is cancelled.
    func wait(atMost time: Duration) async {
        await withTaskGroup { group in
            group.addTask { try? await Task.sleep(for: time) }
            group.addTask { await self.rung() }
            await group.next()
            group.cancelAll()
        }
    }

    private func rung() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumesAtOnce = state.withLock { state in
                    defer { state.isRung = false }
                    if state.isRung || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if resumesAtOnce { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume()
        }
    }
}

extension BackOff {
    /// The pauses between attempts at something that the database refuses.
    ///
    /// The first is short, as most of its absences are: a restart takes a second, a terminated backend nothing at all.
    static func database(longest: Duration) -> BackOff {
        BackOff(initial: .milliseconds(100), maximum: longest, floor: .milliseconds(50))
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
