import Administration
import ArgumentParser
import PushCore
import Store

/// `pushmta delivery follow ID SIGNAL`.
struct DeliveryFollowCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Let the rate of a delivery follow a health signal, also while it is being sent.",
        discussion: """
            The rate rises towards the ceiling while the signal is on the good side of the target, and falls towards the \
            floor when it is not. It begins at the floor, and is there while the signal has no recent value. With only \
            an id, the command shows the signal, the rate and why it is so. After --none the present rate stays as the \
            delivery's limit; `pushmta delivery rate` changes it.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "The signal's name; `pushmta signal list` shows them.")
    var signal: String?

    @Option(help: "The value that the signal should just not reach.")
    var target: DecimalArgument?

    @Option(help: "Messages per second that are sent in any case, \(DeliverySetting.rate.expectation).")
    var floor: DecimalArgument?

    @Option(help: "Messages per second that are never exceeded, \(DeliverySetting.rate.expectation).")
    var ceiling: DecimalArgument?

    @Flag(help: "Follow no signal any more.")
    var none = false

    func validate() throws {
        let limits = [target, floor, ceiling].compactMap(\.self)
        if signal != nil {
            guard !none, limits.count == 3 else {
                throw ValidationError("Give --target, --floor and --ceiling with a signal, or --none without one.")
            }
        } else if !limits.isEmpty {
            throw ValidationError(
                "Name the signal, as in pushmta delivery follow 100 load --target 0.8 --floor 10 --ceiling 5000."
            )
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let found = try await StoreSession.run(loaded.values) { store -> DeliverySignalRow? in
            if let signal, let target, let floor, let ceiling {
                try await store.followSignal(
                    id,
                    signal,
                    target: target.number,
                    floor: floor.number,
                    ceiling: ceiling.number
                )
            } else if none {
                try await store.leaveSignal(id)
            }
            return try await store.signal(ofDelivery: id)
        }
        guard let row = found else { return StandardOutput.line("Delivery \(id) follows no signal.") }
        StandardOutput.line(
            "Delivery \(id) follows signal \(row.signal), target \(row.good.rawValue) \(row.target), with \(row.floor) to "
                + "\(row.ceiling) messages a second; now \(row.rate) (\(row.state)): \(row.reason).",
            [
                ("signal", .text(row.signal)), ("target", .number(row.target)), ("floor", .number(row.floor)),
                ("ceiling", .number(row.ceiling)), ("value", row.value.map { Cell.number($0) } ?? Cell.none),
                ("rate", .number(row.rate)), ("state", .text(row.state)),
            ]
        )
    }
}
