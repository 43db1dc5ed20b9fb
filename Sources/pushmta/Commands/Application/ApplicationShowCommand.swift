import ArgumentParser
import Foundation
import PushCore
import Store

/// `pushmta app show NAME`: an application and all that it declares.
struct ApplicationShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an application and what it declares."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The application's name.")
    var name: String

    @Option(help: "Write the icon into this file.")
    var saveIcon: String?

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (row, service, account, declared, icon) = try await StoreSession.run(loaded.values) { store in
            let row = try await store.application(named: name)
            var account: AccountRow?
            if let id = row.accountID { account = try await store.account(id) }
            return (
                row, try await store.services().first { $0.id == row.serviceID }, account,
                try await store.declarations(application: name), try await store.icon(application: name)
            )
        }
        if let saveIcon { try save(icon, to: saveIcon) }
        let side = ApplicationIcon.side
        let facts: [(String, Cell)] = [
            ("id", Cell(row.id)), ("name", .text(row.name)), ("label", .text(row.label)),
            ("service", Cell(service?.name)), ("platform", .text(row.platform.rawValue)),
            ("environment", .text(row.environment.rawValue)), ("bundle_id", .text(row.bundleID)),
            ("integration_key", .text(row.integrationKey)), ("message_id_format", .text(row.messageIDFormat.rawValue)),
            ("account", Cell(account?.name)), ("credential", .text(row.credentialID == nil ? "none" : "set")),
            ("icon", Cell(icon.map { "\(side)×\(side), \($0.count) bytes" })),
        ]
        let lists = Self.tables(declared)
        guard json else {
            let head = facts.map { "\($0.0): \($0.1.shown)" }.joined(separator: "\n")
            let shown = lists.filter { !$0.1.rows.isEmpty }.map { "\n\n\($0.0)\n\($0.1.text)" }.joined()
            return StandardOutput.line(head + shown)
        }
        StandardOutput.line(Cell.object(facts + lists.map { ($0.0, $0.1.cell) }).json)
    }

    private func save(_ icon: [UInt8]?, to path: String) throws {
        guard let icon else { throw CommandFailure(.data, "Application \(name) has no icon to write.") }
        guard FileManager.default.createFile(atPath: path, contents: Data(icon)) else {
            throw CommandFailure(.data, "The icon cannot be written to \(path): check the folder and your rights.")
        }
    }

    private static func tables(_ declared: ApplicationDeclarations) -> [(String, Table)] {
        var variables = Table(["name", "type", "default", "label"])
        for variable in declared.variables {
            variables.add([
                .text(variable.name), .text(variable.type.rawValue), Cell(variable.defaultValue), .text(variable.label),
            ])
        }
        var sounds = Table(["name", "label", "system"])
        for sound in declared.sounds {
            sounds.add([.text(sound.name), .text(sound.label), .flag(sound.isSystem)])
        }
        var parameters = Table(["name", "column"])
        for parameter in declared.parameters {
            parameters.add([.text(parameter.name), .text(parameter.column.description)])
        }
        return [("variables", variables), ("sounds", sounds), ("parameters", parameters)]
    }
}
