import ArgumentParser
import MTAChild
import PushCore
import Store

/// `pushmta app test APP`: tries whether the application's messages would be taken.
struct ApplicationTestCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Connect to an application's gateway as a child does, and say whether its messages would be taken.",
        discussion: """
            The gateway is asked with one message. With --token it goes to that device: FCM only checks it (validate_only), APNs \
            delivers it, as a push that wakes the app and shows nothing unless --alert says what to show. Without --token it \
            carries a push token that no device has; that the gateway refuses nothing but this token shows that all else is right. \
            Exit status 1 if messages would not be sent.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The application's name.")
    var application: String

    @Option(help: "The push token of a device.")
    var token: String?

    @Option(help: "A text that an iOS device is to show.")
    var alert: String?

    @Option(help: "The external account to go through (default: the application's).")
    var account: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let token, !GatewayProbe.isToken(token) {
            throw ValidationError("--token is no push token: give it as the device registered it, without spaces.")
        }
        if alert != nil, token == nil {
            throw ValidationError("--alert needs --token: say which device is to show it.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let findings = try await StoreSession.run(loaded.values) { store in
            let row = try await self.row(store)
            let probe = GatewayProbe(settings: loaded.values, store: store)
            return try await probe.run(row, try await self.account(of: row, store), token: token, alert: alert)
        }
        var table = Table(["step", "verdict", "finding"])
        for finding in findings {
            table.add([.text(finding.step), .text(finding.verdict.rawValue), .text(finding.text)])
        }
        table.show(json: json)
        let isRight = findings.last?.verdict != .failed && !findings.contains { $0.verdict == .failed }
        guard isRight, !findings.isEmpty else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }

    private func row(_ store: Store) async throws -> ApplicationRow {
        let known = try await store.applications()
        guard let row = known.first(where: { $0.name == application }) else {
            throw CommandFailure.unknownName("application", application, among: known.map(\.name), list: "app list")
        }
        return row
    }

    private func account(of row: ApplicationRow, _ store: Store) async throws -> AccountRow {
        if let account { return try await store.account(named: account) }
        guard let id = row.accountID else {
            throw CommandFailure(
                .data,
                "Application \(row.name) has no external account: name one with --account, or give it one with `pushmta app set \(row.name) --account NAME`."
            )
        }
        return try await store.account(id)
    }
}
