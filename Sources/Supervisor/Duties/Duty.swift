import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Synchronization

/// Something that a supervisor does again and again for as long as it runs.
///
/// No error ends it: the database may be away for hours, and whatever one round could not do, a later one can.
struct Duty: Sendable {
    /// What the log calls it.
    let name: String
    /// Makes it begin its next round at once.
    let event: EventSignal
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
        // An outage of the database is told once, and not by each duty.
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
                logger.failure("\(name) failed and is tried again in \(time.pauseText)", of: error)
                if !DatabaseAvailability.isOutage(error) { isTold = true }
                try? await Task.sleep(for: time)
            }
        }
    }
}
