import ArgumentParser

/// `pushmta delivery`.
struct DeliveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delivery",
        abstract: "Create deliveries, start them, and see what became of them.",
        subcommands: [
            DeliveryCreateCommand.self, DeliveryStartCommand.self, DeliveryStatusCommand.self,
            DeliveryWatchCommand.self,
            DeliveryListCommand.self,
        ]
    )
}
