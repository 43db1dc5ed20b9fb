import ArgumentParser

/// `pushmta drill list`.
struct DrillListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the drills.")

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        var table = Table(["drill", "short", "messages", "faults", "what_it_does", "must_end_with"])
        for drill in DrillCatalog.all {
            table.add([
                .text(drill.name), .flag(drill.isShort), .integer(drill.messages), Cell(drill.minimumFaults),
                .text(drill.summary),
                .text(drill.promise),
            ])
        }
        table.show(json: json)
    }
}
