import Administration
import ArgumentParser
import Content
import PushCore
import Store

struct TemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "template",
        abstract: "Delivery templates: content, settings and target that deliveries start from.",
        discussion: "`pushmta delivery create --template NAME` creates a delivery from one.",
        subcommands: [
            TemplateListCommand.self, TemplateShowCommand.self, TemplateAddCommand.self, TemplateDuplicateCommand.self,
            TemplateRemoveCommand.self,
        ]
    )
}

/// `pushmta template add NAME`.
struct TemplateAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store a delivery template.",
        discussion: """
            Its content may be incomplete: the content of each delivery is merged into it. Settings are \
            \(DeliverySetting.allCases.map { "\($0.rawValue) (\($0.expectation))" }.joined(separator: ", ")). \
            Example: --settings '{"priority": 10}'.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "The content as JSON text, or the path of a file after @, as in @content.json.")
    var content: String

    @Option(help: "What it is for.")
    var label = ""

    @Option(help: "Settings of the deliveries: a JSON object, or the path of a file after @.")
    var settings = "{}"

    @Option(
        name: .customLong("app"),
        help: "An application for deliveries that name none; may be repeated."
    )
    var applications: [String] = []

    @Option(help: "A filter for subscribers, as with `pushmta delivery create --filter`.")
    var filter = ""

    @Option(name: .customLong("exclude"), help: "An exclusion list whose people get nothing; may be repeated.")
    var excludedLists: [String] = []

    @Flag(help: "Replace your own template of this name, if there is one.")
    var replace = false

    func execute(_ loaded: LoadedSettings) async throws {
        let content = try ContentText(argument: content)
        let settings = try ContentText(argument: settings, of: "settings")
        try settings.requireObject("settings", example: #"{"priority": 10}"#)
        // Malformed JSON is refused. An incomplete content is fine: that is what templates are for.
        let problems = PushContent.validate(json: content.text)
        if problems.contains(where: { $0.key.isEmpty }) { _ = try content.content() }
        try await StoreSession.run(loaded.values) { store in
            try await store.addTemplate(
                name: name,
                label: label,
                content: content.text,
                settings: settings.text,
                target: TemplateTarget(applications: applications, filter: filter, excludedLists: excludedLists),
                replacing: replace
            )
        }
        StandardOutput.line("Delivery template \(name) was stored.")
        guard !problems.isEmpty else { return }
        StandardError.write("It cannot be sent as it is; a delivery has to correct this:\n")
        for problem in problems { StandardError.write("  \(problem)\n") }
    }
}

/// `pushmta template duplicate NAME NEW`.
struct TemplateDuplicateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate",
        abstract: "Copy a delivery template under another name.",
        discussion:
            "The copy keeps the original's label, applications, filter and exclusion lists where none are given."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The template to copy.")
    var name: String

    @Argument(help: "The name of the copy.")
    var newName: String

    @Option(help: "What the copy is for.")
    var label: String?

    @Option(
        name: .customLong("app"),
        help: "An application for deliveries of the copy that name none; may be repeated."
    )
    var applications: [String] = []

    @Option(help: "A filter for subscribers, as with `pushmta delivery create --filter`; \"\" for all of them.")
    var filter: String?

    @Option(name: .customLong("exclude"), help: "An exclusion list whose people get nothing; may be repeated.")
    var excludedLists: [String] = []

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.duplicateTemplate(
                named: name,
                as: newName,
                label: label,
                applications: applications.isEmpty ? nil : applications,
                filter: filter,
                excludedLists: excludedLists.isEmpty ? nil : excludedLists
            )
        }
        StandardOutput.line("Delivery template \(newName) was created as a copy of \(name).")
    }
}

/// `pushmta template remove NAME`.
struct TemplateRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a delivery template.",
        discussion:
            "Templates that came with the product cannot be removed. Deliveries created from it are not changed."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        let name = name
        try await StoreSession.run(loaded.values) { try await $0.removeTemplate(named: name) }
        StandardOutput.line("Delivery template \(name) was removed.")
    }
}

struct TemplateListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the delivery templates.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.templates() }
        var table = Table(["id", "name", "label", "applications", "ready_made"])
        for row in rows {
            table.add([
                Cell(row.id), .text(row.name), .text(row.label),
                .text(row.target.applications.joined(separator: ", ")), .flag(row.isReadyMade),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta template show NAME`.
struct TemplateShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a delivery template with its content, settings and target."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name.")
    var name: String

    @Flag(help: "Print JSON, with content and settings as texts, as stored in the database.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { try await $0.template(named: name) }
        let cells: [(String, Cell)] = [
            ("id", Cell(row.id)), ("name", .text(row.name)), ("label", .text(row.label)),
            ("ready_made", .flag(row.isReadyMade)), ("services", .list(row.services.map(Cell.text))),
            ("applications", .list(row.target.applications.map(Cell.text))), ("filter", .text(row.target.filter)),
            ("exclusion_lists", .list(row.target.excludedLists.map(Cell.text))), ("settings", .text(row.settings)),
            ("content", .text(row.content)),
        ]
        guard !json else { return StandardOutput.line(Cell.object(cells).json) }
        for (name, cell) in cells { StandardOutput.line("\(name): \(cell.shown)") }
    }
}
