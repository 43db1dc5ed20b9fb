import Administration
import ArgumentParser
import PushCore
import Store

struct CategoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "category",
        abstract: "Categories of deliveries, which people can opt out of.",
        discussion: """
            Each service begins with marketing, news, service and transactional. A delivery gets its category with \
            `delivery create --category NAME`; `pushmta optout` records who does not want one. People left out because \
            of it are recorded with the reason category_opted_out.
            """,
        subcommands: [CategoryListCommand.self, CategorySetCommand.self, CategoryDropCommand.self]
    )
}

/// `pushmta category list`.
struct CategoryListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the categories of each service."
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Only those of this service.")
    var service: String?

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            // An unknown name would look like one without categories.
            if let service { _ = try await store.service(named: service) }
            return try await store.categories()
        }
        var table = Table(["service", "name", "label", "transactional"])
        for row in rows where service == nil || row.service == service {
            table.add([.text(row.service), .text(row.name), .text(row.label), .flag(row.isTransactional)])
        }
        table.show(json: json)
    }
}

/// `pushmta category set SERVICE NAME`.
struct CategorySetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Add a category to a service, or change it.",
        discussion: """
            Nobody can opt out of a transactional category alone: use it only for what a person has ordered or must \
            know. A category that people have opted out of cannot become transactional.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    @Argument(help: "The category: lower-case letters, digits, hyphens and underscores.")
    var name: String

    @Option(help: "Its name for people (default: the name).")
    var label: String?

    @Flag(inversion: .prefixedNo, help: "Nobody can opt out of it alone.")
    var transactional: Bool?

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.setCategory(name, service: service, label: label, isTransactional: transactional)
        }
        StandardOutput.line("Service \(service) has the category \(name).")
    }
}

/// `pushmta category drop SERVICE NAME`.
struct CategoryDropCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Remove a category that no delivery has and nobody has opted out of."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service.")
    var service: String

    @Argument(help: "The category.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.dropCategory(name, service: service)
        }
        StandardOutput.line("Category \(name) of service \(service) was removed.")
    }
}
