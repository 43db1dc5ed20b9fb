import ArgumentParser

/// `pushmta account`.
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "External accounts: the routing of deliveries to a gateway.",
        subcommands: [AccountAddCommand.self, AccountListCommand.self, AccountSetCommand.self]
    )
}
