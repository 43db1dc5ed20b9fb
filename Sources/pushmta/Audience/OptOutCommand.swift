import Administration
import ArgumentParser
import PushCore
import Store

struct OptOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "optout",
        abstract: "Opt-outs: who wants no messages, or none of a category.",
        discussion: """
            An opt-out from everything also stops transactional deliveries. An opt-out from a category stops the \
            deliveries of that category only. Both stay when the device registers again.
            """,
        subcommands: [OptOutAddCommand.self, OptOutRemoveCommand.self, OptOutListCommand.self]
    )
}

/// Whose opt-out, and from what.
struct OptOutOptions: ParsableArguments {
    @Option(help: "A device, by the id of one of its subscriptions.")
    var device: Int64?

    @Option(help: "With --user-key: the service.")
    var service: String?

    @Option(help: "A user on all devices, present and future.")
    var userKey: String?

    @Option(help: "Only deliveries of this category (default: everything).")
    var category: String?

    func validate() throws {
        let isUser = userKey != nil && service != nil
        guard device == nil ? isUser : userKey == nil && service == nil else {
            throw ValidationError("Give either --device, or --service and --user-key.")
        }
    }

    /// Records the choice; returns a sentence without the user's key.
    func record(_ isOut: Bool, _ store: Store) async throws -> String {
        let what = category.map { "category \($0)" } ?? "everything"
        let done = isOut ? "opted out of \(what)" : "no longer opted out of \(what)"
        if let device {
            if let category {
                try await store.setOptOut(device, category: category, isOut)
            } else {
                try await store.setOptOut(device, isOut)
            }
            return "Device \(device) is \(done)."
        }
        let (service, key) = (service ?? "", userKey ?? "")
        let changed =
            if let category {
                try await store.setOptOut(ofUser: key, service: service, category: category, isOut)
            } else {
                try await store.setOptOut(ofUser: key, service: service, isOut)
            }
        return "The user of service \(service) is \(done): \(changed) subscriptions were changed."
    }
}

/// `pushmta optout add`.
struct OptOutAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Record that a person wants no messages, or none of a category."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions
    @OptionGroup var choice: OptOutOptions

    func execute(_ loaded: LoadedSettings) async throws {
        StandardOutput.line(try await StoreSession.run(loaded.values) { try await choice.record(true, $0) })
    }
}

/// `pushmta optout remove`.
struct OptOutRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Record that a person wants messages again. Ask the person first."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions
    @OptionGroup var choice: OptOutOptions

    func execute(_ loaded: LoadedSettings) async throws {
        StandardOutput.line(try await StoreSession.run(loaded.values) { try await choice.record(false, $0) })
    }
}

/// `pushmta optout list --device ID`.
struct OptOutListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the categories of a device's service, and which of them its person does not want."
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "A device, by the id of one of its subscriptions.")
    var device: Int64

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { store in
            _ = try await store.device(device)
            return try await store.deviceCategories(device)
        }
        var table = Table(["category", "label", "transactional", "opted_out", "since", "source"])
        for row in rows {
            table.add([
                .text(row.name), .text(row.label), .flag(row.isTransactional), .flag(row.optedOutSince != nil),
                Cell(row.optedOutSince.map(\.internetText)), .text(row.source),
            ])
        }
        table.show(json: json)
    }
}
