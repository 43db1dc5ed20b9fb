import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Synchronization

/// A task that a supervisor repeats while it runs.
///
/// No error ends it: the database may be down for hours, and a later round can do what one round could not.
struct Duty: Sendable {
    /// Its name in the log.
    let name: String
    /// Starts its next round at once.
    let event: EventSignal
    /// The longest pause after an error.
    let maxPause: Duration
    let logger: Logger
    /// One round; returns the time until the next.
    let round: @Sendable () async throws -> Duration
    /// Called after each round with whether it succeeded.
    var finished: @Sendable (_ succeeded: Bool) -> Void = { _ in }

    /// Runs it until the task is cancelled.
    func run() async {
        var pause = BackOff.database(longest: maxPause)
        // A database outage is logged once for the process, not once per duty.
        var isTold = false
        while !Task.isCancelled {
            do {
                let time = try await round()
                if isTold { logger.notice("\(name) works again") }
                isTold = false
                pause.reset()
                finished(true)
                await event.wait(timeout: time)
            } catch {
                if Task.isCancelled { return }
                finished(false)
                let time = pause.next()
                logger.failure("\(name) failed; next attempt in \(time.pauseText)", of: error)
                if !DatabaseAvailability.isOutage(error) { isTold = true }
                try? await Task.sleep(for: time)
            }
        }
    }
}
