import ArgumentParser
import PushCore
import Store

/// `pushmta service show NAME`: the service with its applications and how many devices subscribe to each.
struct ServiceShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a service with its applications.",
        discussion: "`pushmta subscription list --service NAME` shows who subscribes."
    )

    /// Services of other kinds, as for e-mail, are none of this product's.
    private static let type = "mobile_application"

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The service's name.")
    var name: String

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        var table = Table([
            "name", "platform", "environment", "bundle_id", "integration_key", "account", "credential", "subscriptions",
        ])
        var trust = UserKeyTrust.open
        var keys: [ProofKeyRow] = []
        let service = try await StoreSession.run(loaded.values) { store in
            let service = try await store.service(named: name)
            let accounts = try await store.accounts()
            for row in try await store.applications(ofService: name) {
                table.add([
                    .text(row.name), .text(row.platform.rawValue), .text(row.environment.rawValue),
                    .text(row.bundleID), .text(row.integrationKey),
                    Cell(accounts.first { $0.id == row.accountID }?.name),
                    .text(row.credentialID == nil ? "none" : "set"),
                    .integer(try await store.subscriptionCount(application: row.name)),
                ])
            }
            trust = try await store.userKeyTrust(service: name)
            keys = try await store.proofKeys(service: name)
            return service
        }
        let facts: [(String, Cell)] = [
            ("id", Cell(service.id)), ("name", .text(service.name)), ("label", .text(service.label)),
            ("type", .text(Self.type)), ("mapping", Cell(service.mapping)),
            ("user_key_trust", .text(trust.rawValue)),
            ("proof_keys", .text(keys.map { "\($0.keyID) (\($0.algorithm.rawValue))" }.joined(separator: ", "))),
        ]
        guard json else {
            var head = Table(facts.map(\.0))
            head.add(facts.map(\.1))
            StandardOutput.line("\(head.text)\n\n\(table.text)")
            return
        }
        StandardOutput.line(Cell.object(facts + [("applications", table.cell)]).json)
    }
}
