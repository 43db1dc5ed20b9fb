import ArgumentParser
import Store

/// `pushmta subscription forget`: what a data-protection request asks for.
struct SubscriptionForgetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget a user of a service, for good.",
        discussion: """
            Empties the user's subscriptions and deletes the user from targets, variables, exclusions and seed addresses of all deliveries.
            Logs keep ids that lead to nobody; `pushmta feedback` takes addresses, browsers and variables out of them, beginning a minute
            later, day by day: pushmta.forgotten_subscription tells when all are clean. A message that a child has loaded already may still
            leave. An app that registers later is somebody new. There is no way back.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "The service.")
    var service: String

    @Option(help: "The user's key in that service.")
    var userKey: String

    func execute(_ loaded: LoadedSettings) async throws {
        let found = try await StoreSession.run(loaded.values) { store in
            try await store.forgetUser(service: service, userKey: userKey)
        }
        guard !found.isNothing else {
            StandardOutput.line("Service \(service) knows no such user; nothing was changed.")
            return
        }
        StandardOutput.line(
            "Forgotten: subscriptions \(found.subscriptions), targets \(found.targets), exclusions \(found.exclusions), seed addresses \(found.seeds)."
        )
    }
}
