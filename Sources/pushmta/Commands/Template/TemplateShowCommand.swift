import ArgumentParser
import Store

/// `pushmta template show NAME`.
struct TemplateShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a delivery template with its content and settings."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name.")
    var name: String

    @Flag(help: "Print JSON; content and settings are texts in it, as the database has them.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { try await $0.template(named: name) }
        let cells: [(String, Cell)] = [
            ("id", Cell(row.id)), ("name", .text(row.name)), ("label", .text(row.label)),
            ("ready_made", .flag(row.isReadyMade)), ("settings", .text(row.settings)), ("content", .text(row.content)),
        ]
        guard !json else { return StandardOutput.line(Cell.object(cells).json) }
        for (name, cell) in cells { StandardOutput.line("\(name): \(cell.shown)") }
    }
}
