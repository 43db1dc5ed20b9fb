import ArgumentParser
import Store

/// `pushmta service list`.
struct ServiceListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the services.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (rows, applications) = try await StoreSession.run(loaded.values) { store in
            (try await store.services(), try await store.applications())
        }
        var table = Table(["id", "name", "label", "mapping", "applications"])
        for row in rows {
            let names = applications.filter { $0.serviceID == row.id }.map(\.name)
            table.add([
                Cell(row.id), .text(row.name), .text(row.label), Cell(row.mapping),
                .text(names.joined(separator: ", ")),
            ])
        }
        table.show(json: json)
    }
}
