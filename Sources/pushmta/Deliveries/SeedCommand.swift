import Administration
import ArgumentParser
import PushCore
import Store

struct SeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed",
        abstract: "Seed addresses: who gets proofs, and deliveries that name them.",
        subcommands: [SeedAddCommand.self, SeedListCommand.self, SeedRemoveCommand.self]
    )
}

/// `pushmta seed add NAME`.
struct SeedAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a seed address.",
        discussion: """
            It names a subscription by its id, its user or its push token. A token without a subscription gets proofs, \
            and only those deliveries that name seed addresses, until its device registers.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name; not a number, and without commas.")
    var name: String

    @Option(name: .customLong("app"), help: "Its application; a subscription's id needs none.")
    var application: String?

    @Option(help: "A subscription by its id.")
    var subscription: Int64?

    @Option(name: .customLong("user"), help: "A user, by key: the newest subscription in the application.")
    var userKey: String?

    @Option(help: "A push token.")
    var token: String?

    @Option(help: "Values for the fields of its messages: a JSON object, or the path of a file after @.")
    var variables: String?

    @Option(help: "The language for a token without a subscription, for example fr-CA.")
    var locale = ""

    @Option(help: "Its owner, for people.")
    var label = ""

    func validate() throws {
        guard address != nil else { throw ValidationError("Give exactly one of --subscription, --user and --token.") }
        if application == nil, subscription == nil { throw ValidationError("--user and --token need --app.") }
        if let problem = DeviceSetting.problem(locale: locale) { throw ValidationError("--locale \(problem).") }
    }

    private var address: Addressee? {
        Addressee(subscription: subscription, userKey: userKey, pushToken: token)
    }

    func execute(_ loaded: LoadedSettings) async throws {
        guard let address else {
            throw CommandFailure(.usage, "Give exactly one of --subscription, --user and --token.")
        }
        var seed = NewSeed(name: name, label: label, application: application, address: address, locale: locale)
        if let variables {
            let text = try ContentText(argument: variables, of: "variables")
            try text.requireObject("variables", example: #"{"firstName": "Ada"}"#)
            seed.variables = text.text
        }
        let added = seed
        let id = try await StoreSession.run(loaded.values) { try await $0.addSeed(added) }
        StandardOutput.line(
            "Seed address \(name) is set up: subscription \(id).",
            [("name", .text(name)), ("subscription", .integer(id))]
        )
    }
}

struct SeedListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the seed addresses.",
        discussion: "The column problem says why a seed address gets nothing."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.seeds() }
        var table = Table([
            "name", "label", "application", "platform", "subscription", "push_token", "locale", "variables",
            "seed_only",
            "problem",
        ])
        for row in rows {
            let seed = row.seed
            table.add([
                .text(seed.name), .text(seed.label), .text(seed.application), .text(seed.platform.rawValue),
                .integer(seed.subscriptionID), .text(row.pushToken), .text(seed.locale), .text(seed.variables),
                .flag(seed.isSeedOnly), .text(seed.problem),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta seed remove NAME`.
struct SeedRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a seed address.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.removeSeed(named: name) }
        StandardOutput.line("Seed address \(name) was removed.")
    }
}
