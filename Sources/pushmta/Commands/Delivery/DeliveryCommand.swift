import ArgumentParser

/// `pushmta delivery`.
struct DeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "Create deliveries, look at them, start, pause and stop them, and see what became of them.",
        subcommands: [
            DeliveryCreateCommand.self, DeliveryStartCommand.self, DeliveryStatusCommand.self,
            DeliveryWatchCommand.self, DeliveryListCommand.self, DeliveryPauseCommand.self,
            DeliveryResumeCommand.self, DeliveryStopCommand.self, DeliveryPreviewCommand.self,
            DeliveryProofCommand.self, DeliveryTargetCommand.self,
        ]
    )
}
