import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

/// Gets the child's slices of the rates that all hosts share.
///
/// While messages wait it asks some twenty times a second, so a child that is lost takes a moment of the rate with it. What it may
/// not send without a slice waits as long as the database is away.
struct RateSharing: Sendable {
    let sender: Sender
    let store: Store
    let logger: Logger

    /// A database that is away is asked again after so long.
    private static let pause = Duration.milliseconds(250)

    /// Asks for slices until the task is cancelled.
    func run() async {
        var isAnswered = true
        while !Task.isCancelled {
            await sender.signals.rates.wait(timeout: .seconds(1))
            let asked = sender.slicesToAsk()
            guard !asked.isEmpty, !Task.isCancelled else { continue }
            do {
                let slices = try await store.takeRates(asked)
                sender.perform(.slices(slices, asked: asked.map(\.limit)))
                isAnswered = true
            } catch {
                guard !Task.isCancelled else { return }
                if isAnswered {
                    logger.failure("slices of rates could not be had, and messages wait for them", of: error)
                }
                isAnswered = false
                try? await Task.sleep(for: Self.pause)
                sender.perform(.slices([], asked: asked.map(\.limit)))
            }
        }
    }
}
