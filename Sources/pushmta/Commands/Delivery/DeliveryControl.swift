import ArgumentParser
import PushCore
import Store

/// What the commands that hold a delivery back say and wait for.
struct DeliveryControl: Sendable {
    /// The time between two looks.
    private static let interval = Duration.milliseconds(100)

    /// Where the counts are read.
    let store: Store
    /// The delivery.
    let id: Int64

    /// Says what happened, with the delivery's counts.
    func tell(_ what: String) async throws {
        StandardOutput.line("\(what) \(Self.words(try await store.deliveryProgress(id)))")
    }

    /// Waits until no child holds a part of the delivery: then nothing of it is on the wire and all answers are stored.
    ///
    /// - Throws: `CommandFailure` if the delivery leaves the state, as somebody else resumed or ended it; exit status 130 if a
    ///   signal ends the wait.
    func waitUntilQuiet(_ state: DeliveryState) async throws {
        let settled = try await UntilSignal.run { try await quiet(state) }
        guard let settled else {
            StandardError.write("\nThe wait is over, delivery \(id) stays \(state.rawValue).\n")
            throw ExitCode(CommandFailure.interruptedStatus)
        }
        StandardOutput.line("Nothing of delivery \(id) is on the wire. \(Self.words(settled))")
    }

    private func quiet(_ state: DeliveryState) async throws -> DeliveryProgress {
        var display = WaitDisplay()
        defer { display.finish() }
        while true {
            let progress = try await store.deliveryProgress(id)
            // A paused delivery whose last messages were on the wire is over with their answers.
            guard progress.state == state || progress.state.isFinal else {
                throw CommandFailure(
                    .negative,
                    "Delivery \(id) is \(progress.state.rawValue) again: somebody else changed it while this command waited."
                )
            }
            guard try await isHeld(progress) else { return progress }
            display.show("Waiting for delivery \(id): \(Self.words(progress))")
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Whether a child holds a part of the delivery, or of a day of it.
    private func isHeld(_ progress: DeliveryProgress) async throws -> Bool {
        if progress.partsClaimed > 0 { return true }
        guard progress.kind == .continuous else { return false }
        for day in try await store.days(ofDelivery: id) where day.state != .finished {
            if try await store.deliveryProgress(day.id).partsClaimed > 0 { return true }
        }
        return false
    }

    /// The counts that matter here.
    private static func words(_ progress: DeliveryProgress) -> String {
        var words = "Sent \(progress.sent), pending \(progress.pending)"
        if progress.canceled > 0 { words += ", canceled \(progress.canceled)" }
        words += " of \(progress.target)"
        words += progress.partsClaimed > 0 ? "; parts that are being settled: \(progress.partsClaimed)." : "."
        return words
    }
}
