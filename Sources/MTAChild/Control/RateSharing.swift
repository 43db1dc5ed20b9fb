import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

/// Requests the child's slices of the rates that all hosts share.
///
/// While messages wait, it asks about twenty times a second, so a lost child takes little of the rate with it. While
/// the database is unreachable, messages that need a slice wait.
struct RateSharing: Sendable {
    let sender: Sender
    let store: Store
    let logger: Logger

    /// The pause before an unreachable database is asked again.
    private static let pause = Duration.milliseconds(250)

    /// Requests slices until the task is cancelled.
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
                    logger.failure("rate slices could not be obtained; messages wait for them", of: error)
                }
                isAnswered = false
                try? await Task.sleep(for: Self.pause)
                sender.perform(.slices([], asked: asked.map(\.limit)))
            }
        }
    }
}
