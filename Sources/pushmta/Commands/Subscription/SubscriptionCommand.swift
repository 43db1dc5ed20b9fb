import ArgumentParser

/// `pushmta subscription`.
struct SubscriptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscription",
        abstract: "Subscriptions: the devices of users.",
        subcommands: [SubscriptionImportCommand.self, SubscriptionListCommand.self, SubscriptionForgetCommand.self]
    )
}
